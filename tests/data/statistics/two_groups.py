"""Prints the limits of `modes` (host-cli, analysis/statistics/describe.rs): for normal samples of n values, the part of the
sum of squares that is left within the best two groups, and that only one, two or ten samples of a thousand go below.
Needs numpy."""

import numpy as np

rng = np.random.default_rng(1)
for n in (6, 7, 8, 10, 12, 15, 20, 30, 50):
    samples = 400_000 if n <= 15 else 200_000
    x = np.sort(rng.standard_normal((samples, n)), axis=1)
    sums, squares = np.cumsum(x, 1), np.cumsum(x * x, 1)
    total = squares[:, -1] - sums[:, -1] ** 2 / n
    least = np.full(samples, np.inf)
    for k in range(2, n - 1):
        low = squares[:, k - 1] - sums[:, k - 1] ** 2 / k
        high = squares[:, -1] - squares[:, k - 1] - (sums[:, -1] - sums[:, k - 1]) ** 2 / (n - k)
        least = np.minimum(least, (low + high) / total)
    print(n, [round(float(np.quantile(least, part)), 4) for part in (0.001, 0.002, 0.01)])

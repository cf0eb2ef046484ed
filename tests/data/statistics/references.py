"""Makes references.json: what SciPy and NumPy give for the data below, which tests/statistics of host-cli compares with.

python3 -m venv v && v/bin/pip install scipy==1.17.1 && v/bin/python references.py > references.json
"""

import json
import sys

import numpy as np
import scipy
from scipy import stats

DATA = {
    # The UFS report: three scores a side.
    "ufs mixed-st": ([18604, 18314, 17732], [13372, 13081, 13081]),
    "ufs f2fs series": ([13372, 13081, 13081], [14244, 13372, 13255]),
    "ufs random": ([20906, 20508, 21362], [20164, 21107, 21077]),
    # Mean latencies in nanoseconds, drawn once.
    "four": ([50112.4, 49873.1, 50320.8, 49951.0], [52210.9, 51874.3, 52509.5, 52033.2]),
    "unequal": ([35.61, 35.72, 35.44, 35.58, 35.93], [36.02, 35.55, 35.81, 36.40, 35.97, 36.11, 35.70]),
    "spread": ([100.1, 99.8, 100.3, 99.9, 100.0, 100.2], [100.9, 98.7, 101.8, 98.2, 100.1, 99.6]),
}

# Values in the order in which they were measured, and the side of each, in turns, with a drift.
TURNS = {
    "values": [50.02, 52.31, 52.55, 50.61, 50.93, 53.12, 53.29, 51.28],
    "sides": [0, 1, 1, 0, 0, 1, 1, 0],
}


def fieller(base, added, v_base, v_added, covariance, t):
    """Ratios r for which |added - r base| <= t * its error, found by search and not by the closed formula."""
    from scipy.optimize import brentq

    def excess(r):
        return (added - r * base) ** 2 - t * t * (v_added - 2 * r * covariance + r * r * v_base)

    middle = added / base
    step = max(abs(middle), 1e-3)
    low = high = middle
    while excess(low) < 0:
        low -= step
    while excess(high) < 0:
        high += step
    return [100 * brentq(excess, low, middle, xtol=1e-14), 100 * brentq(excess, middle, high, xtol=1e-14)]


def two_samples(base, new):
    base, new = np.array(base, float), np.array(new, float)
    welch = stats.ttest_ind(new, base, equal_var=False)
    interval = welch.confidence_interval(0.95)
    # In whole thousandths, where sums are exact: as fractions, SciPy takes some equal differences for smaller ones.
    whole = [np.rint(side * 1000) for side in (new, base)]
    exact = stats.permutation_test(
        whole,
        lambda a, b: np.abs(np.sum(a) * len(base) - np.sum(b) * len(new)),
        n_resamples=np.inf,
        alternative="greater",
    )
    rank = stats.mannwhitneyu(new, base, method="exact" if len(set(base) | set(new)) == len(base) + len(new) else "asymptotic")
    relative = [base / np.median(base), new / np.median(new)]
    t = stats.t.ppf(0.975, welch.df)
    v_base, v_new = base.var(ddof=1) / len(base), new.var(ddof=1) / len(new)
    return {
        "base": base.tolist(),
        "new": new.tolist(),
        "base_mean": base.mean(),
        "new_mean": new.mean(),
        "base_median": float(np.median(base)),
        "new_median": float(np.median(new)),
        "base_stddev": base.std(ddof=1),
        "welch_p": float(welch.pvalue),
        "added_ci95": [float(interval.low), float(interval.high)],
        "change_ci95_percent": fieller(base.mean(), new.mean() - base.mean(), v_base, v_base + v_new, -v_base, t),
        "permutation_p": float(exact.pvalue),
        "rank_p": float(rank.pvalue),
        "spread_p": float(stats.levene(*relative, center="median").pvalue),
    }


def turns(values, sides):
    """The same by the normal equations, with a column for the side and one for the time."""
    y = np.array(values)
    time = np.arange(len(y)) / (len(y) - 1)
    x = np.column_stack([np.ones(len(y)), sides, time - time.mean()])
    beta, squares, *_ = np.linalg.lstsq(x, y, rcond=None)
    df = len(y) - 3
    covariance = np.linalg.inv(x.T @ x) * squares[0] / df
    error = np.sqrt(covariance[1, 1])
    t = stats.t.ppf(0.975, df)
    return {
        "values": values,
        "sides": sides,
        "base": beta[0],
        "added": beta[1],
        "drift": beta[2],
        "p": float(2 * stats.t.sf(abs(beta[1] / error), df)),
        "added_ci95": [beta[1] - t * error, beta[1] + t * error],
        "change_ci95_percent": fieller(beta[0], beta[1], covariance[0, 0], covariance[1, 1], covariance[0, 1], t),
    }


json.dump(
    {
        "made_with": f"scipy {scipy.__version__}, numpy {np.__version__}, python {sys.version.split()[0]}",
        "two_samples": {name: two_samples(*sides) for name, sides in DATA.items()},
        "turns": turns(**TURNS),
        "t_quantiles": [[p, df, float(stats.t.ppf(p, df))] for p in (0.8, 0.975) for df in (1, 2.5, 4, 18, 400)],
    },
    sys.stdout,
    indent=1,
)
print()

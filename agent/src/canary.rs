//! A fixed piece of work that touches no memory: it takes longer when the CPU is slowed down.

use crate::clock::now_ns;
use crate::pin;
use std::hint::black_box;
use tophalf_wire::Canary;

/// Steps of one repetition: some 0.1 to 0.3 ms on the cores of phones.
const STEPS: u64 = 100_000;
/// The fastest of them counts: an interrupt in one of them is no throttling. All together take less than a
/// millisecond, before and after each window.
const REPETITIONS: u32 = 3;

/// Does the work on the calling thread.
pub fn canary() -> Canary {
    let cpu = pin::current_cpu();
    let best_ns = (0..REPETITIONS).map(|_| repetition_ns()).min().unwrap_or(u64::MAX);
    Canary { cpu, best_ns }
}

/// A chain of multiplications and shifts, each of which needs the one before (the steps of xorshift64*).
fn repetition_ns() -> u64 {
    let begin_ns = now_ns();
    let mut state = black_box(0x9e37_79b9_7f4a_7c15_u64);
    for _ in 0..STEPS {
        state ^= state >> 12;
        state ^= state << 25;
        state = state.wrapping_mul(0x2545_f491_4f6c_dd1d);
    }
    black_box(state);
    now_ns() - begin_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_time_that_no_compiler_has_taken_away() {
        // Ten thousand times the grain of any clock, and less than a tenth of a window even without optimisation.
        assert!((10_000..100_000_000).contains(&canary().best_ns), "{:?}", canary());
    }
}

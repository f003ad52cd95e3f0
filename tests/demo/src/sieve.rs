// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tables computed by the compiler: time spent in `eval_to_allocation_raw`.

const N: usize = 200_000;

const fn sieve() -> [bool; N] {
    let mut prime = [true; N];
    prime[0] = false;
    prime[1] = false;
    let mut i = 2;
    while i * i < N {
        if prime[i] {
            let mut j = i * i;
            while j < N {
                prime[j] = false;
                j += i;
            }
        }
        i += 1;
    }
    prime
}

const fn collatz_steps(mut n: u64) -> u32 {
    let mut steps = 0;
    while n != 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

const fn longest_below(limit: u64) -> u64 {
    let (mut best, mut best_steps, mut n) = (1, 0, 1);
    while n < limit {
        let steps = collatz_steps(n);
        if steps > best_steps {
            best = n;
            best_steps = steps;
        }
        n += 1;
    }
    best
}

pub static PRIMES: [bool; N] = sieve();
pub const LONGEST: u64 = longest_below(6_000);

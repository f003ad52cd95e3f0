// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What `make demo` compiles: small to read, and a few seconds of work for rustc. Macros stamp out
//! units of measure, `Compose` makes every pair of them a type of its own, and tables are computed
//! at compile time.
#![allow(dead_code)]

pub mod matrix;
pub mod shapes;
pub mod sieve;
pub mod units;

/// Ties the modules together, so that generic code is instantiated here and not only checked.
pub fn everything() -> u64 {
    let primes = sieve::PRIMES.iter().filter(|&&p| p).count() as u64;
    primes + units::all_conversions() as u64 + shapes::total_area() as u64 + matrix::trace_sum()
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Instantiation without end: found while collecting code, not while checking types.
struct Wrap<T>(T);

fn grow<T>(n: usize, value: T) -> usize {
    if n == 0 { 0 } else { grow(n - 1, Wrap(value)) }
}

fn main() {
    println!("{}", grow(3, ()));
}

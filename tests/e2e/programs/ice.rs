// SPDX-License-Identifier: Apache-2.0 OR MIT
// Compiled with -Ztreat-err-as-bug: the first error is a compiler panic, in the middle of queries.
fn main() {
    let x: u64 = "not a number";
    println!("{x}");
}

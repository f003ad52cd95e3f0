// SPDX-License-Identifier: Apache-2.0 OR MIT
fn main() {
    let x: i32 = "s";
    println!("{x}");
}

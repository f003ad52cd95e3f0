// SPDX-License-Identifier: Apache-2.0 OR MIT
// Nested so deeply that rustc allocates more stack in the middle of queries. Compiles.
#![recursion_limit = "2000"]

macro_rules! nest {
    ($x:expr; $head:tt $($tail:tt)*) => { nest!(Some(Box::new($x)); $($tail)*) };
    ($x:expr;) => { $x };
}

macro_rules! add {
    ($x:expr; $head:tt $($tail:tt)*) => { add!((($x) + $head); $($tail)*) };
    ($x:expr;) => { $x };
}

fn main() {
    let nested = nest!(Some(Box::new(1)); 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0);
    let sum = add!(1;
        0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9
        7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6
        4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3
        1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0
        8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7
    );
    println!("{:?} {}", nested, sum);
}

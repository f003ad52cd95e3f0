// SPDX-License-Identifier: Apache-2.0 OR MIT
// Errors of many kinds, and a macro that makes hundreds of them.
macro_rules! wrong {
    ($($name:ident)*) => { $(
        fn $name(a: &str, b: u8) -> Option<u64> {
            let c: Vec<u8> = a + b;
            missing(c).method()
        }
    )* };
}

wrong! { a b c d e f g h i j k l m n o p q r s t u v w x y z }

trait Shape {
    fn area(&self) -> f64;
}

struct Square;

impl Shape for Square {}

impl Missing for Square {}

struct Endless {
    next: Option<Endless>,
}

fn main() {
    let s = Square;
    s.area::<u8>(1, 2);
    match 3u8 {
        0..=9 => {}
    }
    let Endless { nothing } = s;
    return 5;
}

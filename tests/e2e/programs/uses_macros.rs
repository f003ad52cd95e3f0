// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Several modules, so that there are several codegen units, and a macro of each kind.
extern crate macros;

use macros::{as_it_is, twice, Slow};

#[derive(Slow, Clone, Debug)]
pub struct First;

#[derive(Slow)]
pub struct Second;

twice! { pub fn made() -> usize { words::all("of a macro").len() } }

#[as_it_is]
pub fn kept() -> usize {
    numbers::sum(7)
}

pub mod words {
    pub fn all(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_string).collect()
    }
}

pub mod numbers {
    pub fn sum(n: usize) -> usize {
        (0..n).filter(|i| super::words::all(&i.to_string()).len() == 1).sum()
    }
}

fn main() {
    println!("{:?} {} {}", First.clone(), made(), kept());
}

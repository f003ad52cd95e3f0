// SPDX-License-Identifier: Apache-2.0 OR MIT
fn longest<'a>(words: &'a mut Vec<String>) -> &'a String {
    let first = &words[0];
    words.push(String::from("x"));
    first
}

fn main() {
    let mut words = vec![String::from("a")];
    let moved = words;
    println!("{}", longest(&mut words));
    drop(moved);
}

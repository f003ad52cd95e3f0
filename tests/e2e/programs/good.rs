// SPDX-License-Identifier: Apache-2.0 OR MIT
use std::collections::BTreeMap;

fn main() {
    let mut words = BTreeMap::new();
    for word in "the build does not notice the profiler".split(' ') {
        *words.entry(word).or_insert(0) += 1;
    }
    println!("{words:?}");
}

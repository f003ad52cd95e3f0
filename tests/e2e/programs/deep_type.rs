// SPDX-License-Identifier: Apache-2.0 OR MIT
// A type that grows without end: rustc recurses until its own limit, on stacks that it allocates.
struct Wrap<T>(T);

trait Depth {
    fn depth(&self) -> usize;
}

impl Depth for () {
    fn depth(&self) -> usize {
        0
    }
}

impl<T> Depth for Wrap<T>
where
    Wrap<Wrap<T>>: Depth,
{
    fn depth(&self) -> usize {
        Wrap(Wrap(())).depth()
    }
}

fn grow<T>(n: usize, value: T) -> usize {
    if n == 0 { 0 } else { grow(n - 1, Wrap(value)) }
}

fn main() {
    println!("{} {}", Wrap(()).depth(), grow(3, ()));
}

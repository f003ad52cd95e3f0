// SPDX-License-Identifier: Apache-2.0 OR MIT
macro_rules! forever {
    ($($t:tt)*) => { forever!($($t)* x) };
}

fn main() {
    forever!();
    unresolved!();
}

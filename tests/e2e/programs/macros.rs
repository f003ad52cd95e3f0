// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Procedural macros of each kind; the derive takes at least 30 ms.
extern crate proc_macro;

use proc_macro::TokenStream;
use std::time::{Duration, Instant};

#[proc_macro_derive(Slow)]
pub fn slow(_: TokenStream) -> TokenStream {
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(30) {}
    TokenStream::new()
}

#[proc_macro]
pub fn twice(tokens: TokenStream) -> TokenStream {
    tokens
}

#[proc_macro_attribute]
pub fn as_it_is(_: TokenStream, item: TokenStream) -> TokenStream {
    item
}

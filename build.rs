//! Links the unwinder into kdns instead of loading it: one shared library less
//! is a sixth of the time that a short run takes.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |key, value| env::var(key).is_ok_and(|it| it == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}

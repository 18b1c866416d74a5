//! The `dualrater` program: a thin shell around the library.

fn main() {}

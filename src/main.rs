//! The `ome` binary.

fn main() {}

#![no_main]

#[path = "../src/bodies.rs"]
#[expect(dead_code, reason = "each target runs one of them")]
mod bodies;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bodies::validate(bytes));

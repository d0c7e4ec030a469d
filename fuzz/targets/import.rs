#![no_main]

#[path = "../src/commands.rs"]
#[expect(dead_code, reason = "each target runs one of them")]
mod commands;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| commands::import(bytes));

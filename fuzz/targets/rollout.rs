#![no_main]

#[path = "../src/commands.rs"]
#[expect(dead_code, reason = "each target runs one of them")]
mod commands;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| commands::rollout(bytes));

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    commands::grammar::in_place(data, size, most, seed)
        .unwrap_or_else(|| libfuzzer_sys::fuzzer_mutate(data, size, most))
});

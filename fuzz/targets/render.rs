#![no_main]

#[path = "../src/bodies.rs"]
#[expect(dead_code, reason = "each target runs one of them")]
mod bodies;

#[path = "../src/grammar.rs"]
#[expect(dead_code, reason = "costs are another target")]
mod grammar;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bodies::render(bytes));

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    grammar::in_place(data, size, most, seed)
        .unwrap_or_else(|| libfuzzer_sys::fuzzer_mutate(data, size, most))
});

//! See `kreplay_tests::readers::instructions`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    kreplay_tests::readers::instructions(bytes);
});

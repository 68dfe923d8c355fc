//! See `kreplay_tests::readers::store`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    kreplay_tests::readers::store(bytes);
});

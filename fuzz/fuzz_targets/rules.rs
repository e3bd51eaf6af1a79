#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| kdns_fuzz::run("rules", data));

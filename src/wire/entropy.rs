//! Random numbers of the kernel.

use std::cell::RefCell;
use std::fs::File;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::Read as _;

/// So many bytes are read at once: a batch file needs an id for every line.
const POOL: usize = 1024;

thread_local! {
    static RANDOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// An id for a query (RFC 5452, section 9.2).
pub fn query_id() -> u16 {
    RANDOM.with_borrow_mut(|pool| {
        if pool.len() < 2 {
            *pool = random::<POOL>().to_vec();
        }
        let mut byte = || pool.pop().unwrap_or_default();
        u16::from_be_bytes([byte(), byte()])
    })
}

/// A client's cookie, one for a run (RFC 7873, section 4.1).
pub fn client_cookie() -> [u8; 8] {
    random()
}

fn random<const COUNT: usize>() -> [u8; COUNT] {
    let mut bytes = [0; COUNT];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    if read.is_err() {
        // The seeds of hash tables are the kernel's random numbers too.
        for part in bytes.chunks_mut(8) {
            let seed = RandomState::new().build_hasher().finish().to_be_bytes();
            for (byte, seed) in part.iter_mut().zip(seed) {
                *byte = seed;
            }
        }
    }
    bytes
}

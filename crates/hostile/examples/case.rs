//! Runs one case and prints its report: `case SEED`, `case FILE` or `case HEX`. With `HOSTILE_TRACE=1`, prints each
//! segment too.

use mptcp_hostile::budget::Budget;
use mptcp_hostile::{arena, draw};

fn bytes_of(word: &str) -> Option<Vec<u8>> {
    if let Ok(bytes) = std::fs::read(word) {
        return Some(bytes);
    }
    if let Some(seed) = word.parse().ok().filter(|_| word.len() < 12) {
        return Some(draw::bytes_of(seed));
    }
    let pairs = word.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

fn main() {
    for word in std::env::args().skip(1) {
        match bytes_of(&word) {
            Some(bytes) => println!("{:?}", arena::run(&bytes, &Budget::from_environment())),
            None => eprintln!("{word}: must be a seed, a file or hexadecimal bytes"),
        }
    }
}

//! The hash of a flow, and the division of the hash space among paths.

use super::*;

/// For each of the 64 bits of the hash, the number of hashes (of 4096) in which `change` flips the bit.
fn flips(change: impl Fn(u64, u32, u16) -> (u64, u32, u16)) -> [u32; 64] {
    let mut flips = [0; 64];
    for number in 0..4096_u64 {
        let (salt, label, to) = (number % 7, (number as u32 / 7) << 8, (number % 5) as u16);
        let (other_salt, other_label, other_to) = change(salt, label, to);
        let changed = hash(salt, label, AddressId(to)) ^ hash(other_salt, other_label, AddressId(other_to));
        flips.iter_mut().enumerate().for_each(|(bit, flips)| *flips += (changed >> bit & 1) as u32);
    }
    flips
}

/// The strict avalanche criterion (Webster and Tavares, CRYPTO 1985): each bit of salt, label and address
/// changes each bit of the hash with probability one half.
#[test]
fn every_bit_of_a_hash_depends_on_every_bit_of_a_flow() {
    let even = |what: &str, bit: u32, flips: [u32; 64]| {
        for (of, times) in flips.into_iter().enumerate() {
            // Eight standard deviations.
            assert!(times.abs_diff(2048) < 256, "{what} bit {bit}, bit {of} of the hash: {times} of 4096");
        }
    };
    (0..64).for_each(|bit| even("salt", bit, flips(|salt, label, to| (salt ^ 1 << bit, label, to))));
    (0..32).for_each(|bit| even("label", bit, flips(|salt, label, to| (salt, label ^ 1 << bit, to))));
    (0..16).for_each(|bit| even("address", bit, flips(|salt, label, to| (salt, label, to ^ 1 << bit))));
}

/// RFC 2992 section 1: equal regions of the hash space, in order.
#[test]
fn ways_have_equal_regions() {
    for ways in 1..20_usize {
        assert_eq!((threshold(0, ways), threshold(u64::MAX, ways)), (0, ways - 1));
        for way in 1..ways {
            let begin = (((way as u128) << 64).div_ceil(ways as u128)) as u64;
            assert_eq!((threshold(begin - 1, ways), threshold(begin, ways)), (way - 1, way));
        }
    }
}

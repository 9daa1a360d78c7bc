//! Compares keys, tokens and HMACs with values from RFC 4231 and from Python's hashlib and hmac.

use std::net::IpAddr;

use hmac::{Hmac, KeyInit, Mac};
use mptcp_wire::crypto::{
    KeyDigest,
    Version::{V0, V1},
    add_address_hmac,
};
use sha2::Sha256;

const A: u64 = 0x0123_4567_89ab_cdef;
const B: u64 = 0xfedc_ba98_7654_3210;
const NONCE_A: u32 = 0x1122_3344;
const NONCE_B: u32 = 0x5566_7788;

fn hex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal"))
        .collect()
}

#[test]
fn hmac_sha256_is_that_of_rfc_4231() {
    let cases: [(Vec<u8>, &[u8], &str); 3] = [
        (vec![0x0b; 20], b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        (
            b"Jefe".to_vec(),
            b"what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        ),
        (vec![0xaa; 20], &[0xdd; 50], "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
    ];
    for (key, message, expected) in cases {
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
        mac.update(message);
        assert_eq!(mac.finalize().into_bytes().to_vec(), hex(expected));
    }
}

#[test]
fn token_and_initial_sequence_are_the_ends_of_the_hash() {
    let cases = [
        (0, 0xaf55_70f5, 0xe5b2_328d_e0e8_3dfc),
        (1, 0xcd26_6215, 0x19ec_5090_83d0_0a50),
        (A, 0x55c5_3f5d, 0x5707_62cd_38be_9818),
        (B, 0x18f9_781b, 0x2808_18bf_0fa7_e28e),
        (u64::MAX, 0x12a3_ae44, 0x57fb_595b_bbac_f0ca),
    ];
    for (key, expected, initial_sequence) in cases {
        assert_eq!(V1.digest(key), KeyDigest { token: expected, initial_sequence });
    }
}

#[test]
fn version_0_hashes_with_sha_1() {
    let cases = [
        (0, 0x05fe_4057, 0xac55_8654_f107_c7e9),
        (1, 0xcb47_3678, 0x38f1_1011_007a_d27d),
        (A, 0x0ca2_eadb, 0xe3df_8ee1_21f1_0547),
        (B, 0xa5be_6871, 0x334f_c234_bee4_95ca),
        (u64::MAX, 0xbe67_3e8a, 0x8667_01c1_1ef8_e089),
    ];
    for (key, token, initial_sequence) in cases {
        assert_eq!(V0.digest(key), KeyDigest { token, initial_sequence });
    }
    let from_a = V0.join_hmac(A, B, NONCE_A, NONCE_B);
    assert_eq!(from_a.to_vec(), hex("7120574de71020f0d199f170407bf80fb408fdc4"));
    assert_eq!(
        V0.join_hmac(B, A, NONCE_B, NONCE_A).to_vec(),
        hex("49412f7213682cb10e646a6cf7c020034887a3eb")
    );
    assert_eq!(V0.join_hmac_truncated(A, B, NONCE_A, NONCE_B), 0x7120_574d_e710_20f0);
}

#[test]
fn each_side_of_a_join_signs_its_own_key_and_nonce_first() {
    let from_a = V1.join_hmac(A, B, NONCE_A, NONCE_B);
    let from_b = V1.join_hmac(B, A, NONCE_B, NONCE_A);
    assert_eq!(from_a.to_vec(), hex("d8b5e46b7a782e79d3ecfd78307751df993e222b"));
    assert_eq!(from_b.to_vec(), hex("0d44dc5f555121b7027f5508b30392de251c946a"));
}

#[test]
fn the_truncated_hmac_is_the_left_end_of_the_long_one() {
    assert_eq!(V1.join_hmac_truncated(A, B, NONCE_A, NONCE_B), 0xd8b5_e46b_7a78_2e79);
    assert_eq!(V1.join_hmac_truncated(B, A, NONCE_B, NONCE_A), 0x0d44_dc5f_5551_21b7);
}

#[test]
fn an_announcement_is_signed_with_its_right_end() {
    let v4: IpAddr = "192.0.2.1".parse().unwrap();
    let v6: IpAddr = "2001:db8::1".parse().unwrap();
    assert_eq!(add_address_hmac(A, B, 7, v4, None), 0x4670_32ca_a887_b481);
    assert_eq!(add_address_hmac(A, B, 7, v4, Some(8080)), 0x9d4a_6955_7a49_e89a);
    assert_eq!(add_address_hmac(A, B, 255, v6, None), 0x3af1_7c90_b0a9_4f4e);
    assert_eq!(add_address_hmac(A, B, 1, v6, Some(443)), 0x6063_d7ed_67a6_8356);
}

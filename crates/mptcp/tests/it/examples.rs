//! The examples of the crate run and give their stated results.

#[allow(dead_code, reason = "its main is not called here")]
#[path = "../../examples/back_to_back.rs"]
mod back_to_back;

#[test]
fn two_endpoints_back_to_back_use_both_paths() {
    let outcome = back_to_back::transfer(1_000_000, &[10, 25]).expect("all of it arrives");
    assert!(outcome.carried.iter().all(|&bytes| bytes > 100_000), "{:?}", outcome.carried);
}

#[allow(dead_code, reason = "its main is not called here")]
#[path = "../../examples/driver.rs"]
mod driver;

#[test]
fn a_driver_with_udp_sockets_returns_all_data_over_two_subflows() {
    assert_eq!(driver::echo(1_000_000).expect("all of it arrives"), (1_000_000, 2));
}

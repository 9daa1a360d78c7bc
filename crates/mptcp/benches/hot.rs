//! Processing cost of the protocol: complete transfers between two endpoints without a network.
//!
//!     cargo bench -p mptcp --bench hot

use divan::Bencher;
use divan::counter::BytesCount;

#[allow(dead_code, reason = "its main is not called here")]
#[path = "../examples/back_to_back.rs"]
mod back_to_back;

const SIZE: usize = 2_000_000;

/// By one-way delays of the paths.
#[divan::bench(args = [&[10][..], &[10, 25], &[10, 20, 30, 40]])]
fn transfer(bencher: Bencher<'_, '_>, delays: &[u64]) {
    bencher
        .counter(BytesCount::new(SIZE))
        .bench(|| back_to_back::transfer(SIZE, delays).map(|o| o.segments).ok());
}

fn main() {
    divan::main();
}

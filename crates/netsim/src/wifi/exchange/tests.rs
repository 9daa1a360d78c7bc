//! The set of contenders that sense an exchange.

use super::Exchange;

#[test]
fn all_that_heard_it_are_remembered_and_nobody_else() {
    let mut exchange = Exchange::blank();
    let told = [0, 1, 63, 64, 130, 64, 200];
    told.iter().for_each(|&contender| exchange.hear(contender));
    let heard: Vec<u32> = (0..300)
        .filter(|&contender: &u32| {
            let word = exchange.heard.get(contender as usize / 64);
            word.is_some_and(|bits| bits >> (contender % 64) & 1 == 1)
        })
        .collect();
    assert_eq!(heard, [0, 1, 63, 64, 130, 200]);
}

//! Linux and we in the same situations: a line does by content and order what a script says, each stack sends over it to the same
//! peer of Linux's, and what was sent is compared event by event.
//!
//! A handful run always; all of them write docs/beside-linux.md (`tools/beside-linux`).

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

mod events;
mod line;
mod multipath;
mod seen;
mod situations;
mod stage;

use std::time::Duration;

use crate::laboratory::{Namespace, within};
use events::{Events, Verdict};
use stage::{Situation, Who, play};

fn all() -> impl Iterator<Item = &'static Situation> {
    situations::TCP.iter().chain(multipath::MPTCP)
}

#[ignore = "takes minutes; tools/beside-linux"]
#[test]
fn try_one() {
    within(Duration::from_secs(600), || {
        let wanted = std::env::var("SITUATION").unwrap_or_default();
        for situation in all().filter(|situation| wanted.is_empty() || wanted.split(',').any(|w| w == situation.name)) {
            let linux = play(situation, Who::Linux);
            let ours = play(situation, Who::Ours);
            println!("== {}: {:?}\n  L {}\n  O {}", situation.name, linux.compare(&ours), linux.show(true), ours.show(true));
        }
    });
}

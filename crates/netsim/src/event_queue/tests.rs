//! The event queue compared with a linear search for the minimum.

use mptcp_clock::Instant;
use proptest::prelude::*;

use super::EventQueue;

proptest! {
    #[test]
    fn the_first_is_the_least_time_then_the_least_source(
        steps in prop::collection::vec((0u32..400, prop_oneof![4 => 0u64..20, 1 => Just(u64::MAX)]), 1..900)
    ) {
        let mut event_queue = EventQueue::new();
        let mut model: Vec<u64> = Vec::new();
        for (source, at) in steps {
            if source as usize >= model.len() {
                prop_assert_eq!(event_queue.add() as usize, model.len());
                model.push(u64::MAX);
            } else {
                event_queue.set(source, Instant::from_nanos(at));
                model[source as usize] = at;
                prop_assert_eq!(event_queue.pending(source).as_nanos(), at);
            }
            let least = (0..model.len()).min_by_key(|&source| (model[source], source)).expect("not empty");
            let (at, source) = event_queue.first();
            prop_assert_eq!(at.as_nanos(), model[least]);
            if at != Instant::FAR_FUTURE {
                prop_assert_eq!(source as usize, least);
            }
        }
    }
}

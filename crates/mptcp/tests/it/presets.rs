//! The values of the preset configurations.

use mptcp::{Config, CouplingScope, OpportunisticRule, PenaltyRule, SlowStart};

#[test]
fn historical_configuration_has_the_rules_of_the_early_kernels() {
    let (then, now) = (Config::historical(), Config::default());
    assert_eq!((then.scheduler.name(), now.scheduler.name()), ("minrtt", "ontime"));
    assert_eq!((then.coupling, then.slow_start), (CouplingScope::All, SlowStart::Standard));
    assert!(now.pacing && !then.pacing);
    let (old, new) = (then.mechanisms, now.mechanisms);
    assert!(old.opportunistic_retransmission && new.opportunistic_retransmission);
    assert_eq!(old.opportunistic_rule, OpportunisticRule::Original);
    assert_ne!(new.opportunistic_rule, OpportunisticRule::Original);
    assert!(old.penalisation && !new.penalisation);
    assert_eq!(old.penalty_rule, PenaltyRule::Original);
    // The papers name any other enabled feature.
    assert!(!old.autotuning && !old.cwnd_capping);
}

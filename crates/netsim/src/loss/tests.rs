//! Loss models of other crates: their state, and their equality by identity.

use super::*;

/// Loses all frames before the one with this number, counted from 1.
#[derive(Debug)]
struct First(u32);

impl LossModel for First {
    fn takes(&mut self, _at: Instant, _bytes: u32, _random: &mut Rng) -> bool {
        self.0 = self.0.saturating_sub(1);
        self.0 > 0
    }
}

fn model(name: &str, frames: u32) -> Loss {
    Loss::Custom(CustomLoss::new(name, move || Box::new(First(frames))))
}

#[test]
fn a_model_from_outside_keeps_its_state_until_it_is_set_anew() {
    let mut process = LossProcess::new(Rng::new(1, "loss"));
    let model = model("first", 3);
    let mut lost = || (0..5).map(|_| process.takes(&model, Instant::ZERO, 100)).collect::<Vec<_>>();
    assert_eq!(lost(), [true, true, false, false, false]);
    assert_eq!(lost(), [false; 5]);
    process.restart();
    assert!(process.takes(&model, Instant::ZERO, 100));
}

#[test]
fn models_of_one_identity_are_equal() {
    assert_eq!(model("first", 3), model("first", 3));
    assert_ne!(model("first", 3), model("second", 3));
    assert_ne!(model("first", 3), Loss::None);
    assert_eq!(format!("{:?}", model("first", 3)), "Custom(CustomLoss(first))");
}

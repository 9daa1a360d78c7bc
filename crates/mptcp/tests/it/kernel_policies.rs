//! The arithmetic of `bpf/`, compiled for this machine and compared with the controllers of this crate.
//!
//! Owns the records that `bpf/host.c` reads and writes. Never runs a kernel: `tests/test_kernel_policies.py`
//! does.

use std::io::{Read, Write};
use std::path::{Path as FilePath, PathBuf};
use std::process::{Command, Stdio};

use mptcp::congestion::{Acked, Balia, CongestionControl, Lia, Olia, Path};
use mptcp_clock::{Duration, Instant, Rng};

const STEPS: usize = 1_000_000;
/// `GROWTH_FRACTION` of bpf/paths.h: number of fractional bits of the growth in segments.
const SEGMENT: f64 = (1_u64 << 48) as f64;
/// Minimum growth in segments; less would need 10^13 acknowledgements to change a window.
const MIN_GROWTH: f64 = 2.0 / SEGMENT;

const PATHS: usize = 8;
const QUESTION: usize = 24 + PATHS * 24;
const ANSWER: usize = 3 * (8 + 8 + 4 + 4);

struct Step {
    /// Window in segments, RTT in microseconds, bytes between losses.
    paths: Vec<(u32, u32, u64)>,
    mss: u32,
    own: usize,
    acked: u32,
    /// In units of `SEGMENT`.
    credit: i64,
}

struct Answer {
    growth: [i64; 3],
    credit: [i64; 3],
    cwnd: [u32; 3],
    after_loss: [u32; 3],
}

impl Step {
    /// Windows of 1 to 10,000 segments and RTTs of 0.1 ms to 2 s, log-uniform.
    fn drawn(rng: &mut Rng) -> Self {
        let scale = |rng: &mut Rng, least: f64, most: f64| (least * (most / least).powf(rng.unit())).round();
        let count = 1 + rng.below(PATHS as u64) as usize;
        let path = |rng: &mut Rng| {
            let interval = if rng.chance(0.1) { 0 } else { scale(rng, 1.0, 1e12) as u64 };
            (scale(rng, 1.0, 1e4) as u32, scale(rng, 100.0, 2e6) as u32, interval)
        };
        Self {
            paths: (0..count).map(|_| path(rng)).collect(),
            mss: 88 + rng.below(8912) as u32,
            own: rng.below(count as u64) as usize,
            acked: 1 + rng.below(64) as u32,
            credit: ((2.0 * rng.unit() - 1.0) * SEGMENT) as i64,
        }
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        for value in [self.paths.len() as u32, self.own as u32, self.acked, 0] {
            bytes.extend(value.to_ne_bytes());
        }
        bytes.extend(self.credit.to_ne_bytes());
        for at in 0..PATHS {
            let &(cwnd, srtt, interval) = self.paths.get(at).unwrap_or(&(0, 0, 0));
            for value in [cwnd, self.mss, srtt, 0] {
                bytes.extend(value.to_ne_bytes());
            }
            bytes.extend(interval.to_ne_bytes());
        }
    }

    fn states(&self) -> Vec<Path> {
        let state = |&(cwnd, srtt, _): &(u32, u32, u64)| Path {
            cwnd: u64::from(cwnd) * u64::from(self.mss),
            mss: u64::from(self.mss),
            srtt: Some(Duration::from_micros(u64::from(srtt))),
            active: true,
            ..Path::default()
        };
        self.paths.iter().map(state).collect()
    }

    /// The growth of the window per acknowledged segment, and the window after a loss, in segments, of this
    /// crate's controllers.
    fn ours(&self) -> [(f64, u64); 3] {
        let mut olia = Olia::default();
        for (path, &(_, _, interval)) in self.paths.iter().enumerate() {
            olia.on_progress(&mut [], path, Acked { now: Instant::ZERO, bytes: interval });
        }
        let rules: [&mut dyn CongestionControl; 3] = [&mut Lia, &mut olia, &mut Balia];
        rules.map(|rule| {
            let mut states = self.states();
            let bytes = u64::from(self.mss);
            rule.on_ack(&mut states, self.own, Acked { now: Instant::ZERO, bytes });
            let state = &states[self.own];
            let before = f64::from(self.paths[self.own].0) * bytes as f64;
            let grown = state.cwnd as f64 - before + state.credit;
            (grown / bytes as f64, rule.on_loss(&mut self.states(), self.own, Instant::ZERO))
        })
    }
}

impl Answer {
    fn read(bytes: &[u8; ANSWER]) -> Self {
        let long = |at: usize| i64::from_ne_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        let short = |at: usize| u32::from_ne_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        Self {
            growth: std::array::from_fn(|rule| long(8 * rule)),
            credit: std::array::from_fn(|rule| long(24 + 8 * rule)),
            cwnd: std::array::from_fn(|rule| short(48 + 4 * rule)),
            after_loss: std::array::from_fn(|rule| short(60 + 4 * rule)),
        }
    }
}

/// Compiles the program with sanitizers; `name` is the name of the test.
fn compiled(name: &str) -> PathBuf {
    let source = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../python/mptcplab/bpf/host.c");
    let program =
        FilePath::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bpf-{name}-{}", std::process::id()));
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let done = Command::new(&compiler)
        .args([
            "-O2",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fsanitize=undefined",
            "-fsanitize-undefined-trap-on-error",
        ])
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    program
}

/// Runs all steps and checks each result.
fn ask(name: &str, steps: &[Step], mut look: impl FnMut(&Step, &Answer)) {
    let program = compiled(name);
    let mut host = Command::new(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let mut to = host.stdin.take().expect("a pipe");
    let mut from = std::io::BufReader::new(host.stdout.take().expect("a pipe"));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut bytes = Vec::new();
            for some in steps.chunks(1000) {
                bytes.clear();
                some.iter().for_each(|step| step.write(&mut bytes));
                assert_eq!(bytes.len(), QUESTION * some.len());
                to.write_all(&bytes).expect("it reads");
            }
        });
        let mut bytes = [0; ANSWER];
        for step in steps {
            from.read_exact(&mut bytes).expect("an answer to each step");
            look(step, &Answer::read(&bytes));
        }
    });
    assert!(host.wait().expect("it ends").success());
    std::fs::remove_file(program).expect("it was there");
}

fn drawn(count: usize) -> Vec<Step> {
    let mut rng = Rng::new(16, "kernel policies");
    (0..count).map(|_| Step::drawn(&mut rng)).collect()
}

#[test]
fn bpf_arithmetic_equals_that_of_the_controllers() {
    let mut furthest = [0.0_f64; 3];
    let mut compared = [0_u64; 3];
    ask("rules", &drawn(STEPS), |step, answer| {
        for (rule, (real, after_loss)) in step.ours().into_iter().enumerate() {
            let own = &step.paths[step.own];
            let found = answer.growth[rule] as f64 / SEGMENT;
            // This crate stops at two segments, which is not part of the rule.
            if real > 0.0 || own.0 > 3 {
                let error = (found - real).abs();
                assert!(
                    error <= 0.01 * real.abs() + MIN_GROWTH,
                    "{rule}: {found:e}, not {real:e}: {:?}",
                    step.paths
                );
                if real.abs() > 100.0 * MIN_GROWTH {
                    furthest[rule] = furthest[rule].max(error / real.abs());
                    compared[rule] += 1;
                }
            }
            let left = (after_loss / u64::from(step.mss)).max(2);
            assert!(
                u64::from(answer.after_loss[rule]).abs_diff(left) <= 1,
                "{rule}: {left} {:?}",
                step.paths
            );
        }
    });
    println!("furthest from the rule: {furthest:?} of {compared:?} steps");
    assert!(compared.iter().all(|&count| count > STEPS as u64 * 9 / 10), "{compared:?}");
}

#[test]
fn bpf_window_applies_its_growth_within_its_bounds() {
    ask("windows", &drawn(STEPS), |step, answer| {
        let before = step.paths[step.own].0;
        for rule in 0..3 {
            let (cwnd, credit, growth) = (answer.cwnd[rule], answer.credit[rule], answer.growth[rule]);
            assert!(credit.unsigned_abs() < SEGMENT as u64, "{rule}: {credit}");
            assert!(growth <= SEGMENT as i64 + SEGMENT as i64 / 2, "{rule}: {growth}");
            assert!(cwnd >= before.min(2), "{rule}: {before} became {cwnd}");
            assert!(
                i64::from(cwnd) - i64::from(before) <= 2 * i64::from(step.acked),
                "{rule}: {before} became {cwnd}"
            );
            let owed = |cwnd: u32, credit: i64| i128::from(cwnd) * (1 << 48) + i128::from(credit);
            let expected = owed(before, step.credit) + i128::from(growth) * i128::from(step.acked);
            let stopped = cwnd <= 2 && growth < 0;
            assert!(
                stopped || owed(cwnd, credit) == expected,
                "{rule}: {before} became {cwnd}, owed {credit}"
            );
        }
    });
}

/// Impossible values from the kernel give a result without a jump.
#[test]
fn bpf_accepts_impossible_values() {
    let mut rng = Rng::new(17, "kernel policies");
    let any = |rng: &mut Rng, most: u64| match rng.below(5) {
        0 => 0,
        1 => 1,
        2 => most,
        3 => most - rng.below(3),
        _ => rng.next_u64() % most,
    };
    let path = |rng: &mut Rng| {
        (any(rng, u64::from(u32::MAX)) as u32, any(rng, u64::from(u32::MAX)) as u32, any(rng, u64::MAX))
    };
    let step = |rng: &mut Rng| {
        let count = 1 + rng.below(PATHS as u64) as usize;
        Step {
            paths: (0..count).map(|_| path(rng)).collect(),
            mss: any(rng, 65_535) as u32,
            own: rng.below(count as u64) as usize,
            acked: any(rng, u64::from(u32::MAX)) as u32,
            credit: ((2.0 * rng.unit() - 1.0) * SEGMENT) as i64,
        }
    };
    let steps: Vec<Step> = (0..STEPS / 10).map(|_| step(&mut rng)).collect();
    ask("any", &steps, |step, answer| {
        let before = i64::from(step.paths[step.own].0);
        for rule in 0..3 {
            let (cwnd, growth) = (i64::from(answer.cwnd[rule]), answer.growth[rule]);
            assert!(growth.unsigned_abs() <= 3 * SEGMENT as u64 / 2, "{rule}: {growth} {:?}", step.paths);
            assert!(answer.credit[rule].unsigned_abs() < SEGMENT as u64, "{rule}: {}", answer.credit[rule]);
            assert!((cwnd - before).abs() <= 6146 && cwnd >= before.min(2), "{rule}: {before} became {cwnd}");
            let left = i64::from(answer.after_loss[rule]);
            assert!(left >= 2 && left <= before.max(2), "{rule}: {before} leaves {left}");
        }
    });
}

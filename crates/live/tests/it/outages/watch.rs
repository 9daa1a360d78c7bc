//! Runs a transfer, measures its stalls, and summarises many transfers.
//!
//! Owns the rule for the allowed length of a stall.

use std::fmt;
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mptcp_clock::Rng;
use mptcp_live::{MptcpStream, SubflowState};
use sha2::{Digest, Sha256};

use super::links::Links;
use crate::laboratory::{End, linux_info, linux_subflow_infos, pattern};

/// Allowed time beyond the outage and the next timeout.
const GRACE: Duration = Duration::from_millis(500);
/// Maximum time without progress before a transfer is aborted.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Transfer {
    us: MptcpStream,
    them: TcpStream,
    ours_sends: bool,
    data: Vec<u8>,
    /// Size of each write, and the pause between writes.
    piece: usize,
    pause: Duration,
    progress: Mutex<Progress>,
}

/// The receiver's progress.
#[derive(Debug)]
struct Progress {
    begin: Instant,
    last: Instant,
    bytes: usize,
    /// Maximum RTO of both ends since then.
    timeout: Duration,
    /// The longest stall: start, end, and maximum RTO during it.
    longest: (Instant, Instant, Duration),
    /// The stall that exceeded its limit the most, or came closest to it.
    worst: (Duration, Duration),
    said: String,
}

/// Result of a transfer.
#[derive(Debug)]
pub struct Outcome {
    case: String,
    pub intact: bool,
    /// A link went down during the transfer.
    hit: bool,
    duration: Duration,
    longest: Duration,
    /// The worst stall relative to its limit, and the limit.
    worst: (Duration, Duration),
    said: String,
}

impl Outcome {
    pub fn of(mut self, case: &str) -> Self {
        self.case = format!("{case}; {}", self.case);
        self
    }

    pub fn in_time(&self) -> bool {
        self.worst.0 <= self.worst.1
    }
}

impl Transfer {
    pub fn draw(random: &mut Rng, us: MptcpStream, them: TcpStream) -> Self {
        // 10 KB to 2 MB, log-uniform.
        let length = (10_000.0 * 200_f64.powf(random.unit())) as usize;
        let slow = random.chance(0.5);
        let pieces = 1 + random.below(40) as usize;
        let now = Instant::now();
        Self {
            us,
            them,
            ours_sends: random.chance(0.5),
            data: pattern(length),
            piece: if slow { length.div_ceil(pieces) } else { length },
            pause: Duration::from_micros(if slow { random.below(8_000) } else { 0 }),
            progress: Mutex::new(Progress {
                begin: now,
                last: now,
                bytes: 0,
                timeout: Duration::ZERO,
                longest: (now, now, Duration::ZERO),
                worst: (Duration::ZERO, GRACE),
                said: String::new(),
            }),
        }
    }

    /// Sends all data in one direction, and monitors both ends during stalls.
    pub fn run(&self, links: &Links<'_>) -> Outcome {
        for stream in [&self.us as &dyn End, &self.them] {
            stream.wait_for_ever();
        }
        self.us.set_read_timeout(Some(PATIENCE)).unwrap();
        self.us.set_write_timeout(Some(PATIENCE)).unwrap();
        self.them.set_read_timeout(Some(PATIENCE)).unwrap();
        self.them.set_write_timeout(Some(PATIENCE)).unwrap();
        let (from, to): (&dyn End, &dyn End) =
            if self.ours_sends { (&self.us, &self.them) } else { (&self.them, &self.us) };
        {
            let mut progress = self.progress.lock().unwrap();
            let now = Instant::now();
            (progress.begin, progress.last, progress.longest) = (now, now, (now, now, Duration::ZERO));
        }
        let done = AtomicBool::new(false);
        let result = std::thread::scope(|scope| {
            let sender = scope.spawn(|| self.send(from));
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    self.sample(links);
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
            let received = self.receive(to, links);
            done.store(true, Ordering::Relaxed);
            let sent = sender.join().unwrap();
            sent.map_err(|error| format!("sending: {error}")).and(received)
        });
        let intact = result.as_ref().is_ok_and(|hash| *hash == Sha256::digest(&self.data).to_vec());
        let _ = to.half_close();
        let progress = self.progress.lock().unwrap();
        let mut said = progress.said.clone();
        if !intact || progress.worst.0 > progress.worst.1 {
            said += &format!(
                "outages {}, longest from {:.4}, result {:?}, {} bytes\nat the end {}",
                links.told(progress.begin),
                (progress.longest.0 - progress.begin).as_secs_f64(),
                result.map(|hash| hash.len()),
                progress.bytes,
                self.state()
            );
        }
        Outcome {
            case: format!("{} bytes, we send {}", self.data.len(), self.ours_sends),
            intact,
            hit: links.down_until(progress.begin, progress.last).is_some(),
            duration: progress.last - progress.begin,
            longest: progress.longest.1 - progress.longest.0,
            worst: progress.worst,
            said,
        }
    }

    fn send(&self, from: &dyn End) -> std::io::Result<()> {
        for piece in self.data.chunks(self.piece.max(1)) {
            from.send_all(piece)?;
            std::thread::sleep(self.pause);
        }
        from.half_close()
    }

    fn receive(&self, to: &dyn End, links: &Links<'_>) -> Result<Vec<u8>, String> {
        let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
        loop {
            let count = to.read_some(&mut buffer).map_err(|error| format!("receiving: {error}"));
            self.note(links, *count.as_ref().unwrap_or(&0));
            match count? {
                0 => return Ok(hash.finalize().to_vec()),
                some => hash.update(&buffer[..some]),
            }
        }
    }

    /// Records received data, which ends a stall.
    fn note(&self, links: &Links<'_>, count: usize) {
        let now = Instant::now();
        let mut progress = self.progress.lock().unwrap();
        let (from, timeout) = (progress.last, progress.timeout);
        let stall = now - from;
        if stall > progress.longest.1 - progress.longest.0 {
            progress.longest = (from, now, timeout);
        }
        let allowed = allowed(links, from, now, timeout);
        let beyond = |(stall, allowed): (Duration, Duration)| stall.as_secs_f64() - allowed.as_secs_f64();
        if beyond((stall, allowed)) > beyond(progress.worst) {
            progress.worst = (stall, allowed);
        }
        progress.bytes += count;
        (progress.last, progress.timeout) = (now, Duration::ZERO);
    }

    /// Samples a stall: the maximum RTO of both ends, and all state if the stall is too long.
    fn sample(&self, links: &Links<'_>) {
        let now = Instant::now();
        let last = self.progress.lock().unwrap().last;
        if now - last < Duration::from_millis(5) {
            return;
        }
        let mine = self.us.info().map(|info| info.subflows).unwrap_or_default();
        let open = mine.iter().filter(|subflow| subflow.closed_by.is_none());
        let (ready, opening): (Vec<_>, Vec<_>) = open.partition(|s| s.state != SubflowState::SynSent);
        let counted = if ready.is_empty() { opening } else { ready };
        let ours = counted.iter().map(|s| Duration::from_nanos(s.rto.as_nanos())).max();
        let linux = linux_subflow_infos(&self.them);
        let (ready, opening): (Vec<_>, Vec<_>) = linux.into_iter().partition(|s| !matches!(s.state, 2 | 3));
        let counted = if ready.is_empty() { opening } else { ready };
        let theirs = counted.iter().map(|s| s.rto).max();
        let mut progress = self.progress.lock().unwrap();
        if progress.last != last {
            return;
        }
        progress.timeout = progress.timeout.max(ours.into_iter().chain(theirs).max().unwrap_or_default());
        let stall = now - last;
        if stall > allowed(links, last, now, progress.timeout) && progress.said.len() < 20_000 {
            let told = format!("stalled for {stall:?} after {} bytes: {}\n", progress.bytes, self.state());
            progress.said += &told;
            if progress.said.len() == told.len() {
                eprintln!("{told}");
            }
        }
    }

    fn state(&self) -> String {
        let theirs = (linux_info(&self.them), linux_subflow_infos(&self.them));
        format!("ours {:?}\nLinux {theirs:?}", self.us.info())
    }
}

/// The limit of a stall: the rest of the outage, the next timeout, and a grace period.
fn allowed(links: &Links<'_>, from: Instant, to: Instant, timeout: Duration) -> Duration {
    let outage = links.down_until(from, to).map_or(Duration::ZERO, |end| end.saturating_duration_since(from));
    outage + timeout + GRACE
}

/// Summary of many transfers.
#[derive(Debug, Default)]
pub struct Summary {
    count: u64,
    hit: u64,
    durations: Vec<Duration>,
    longest: Vec<Duration>,
    pub violations: Vec<Outcome>,
}

impl Summary {
    pub fn add(&mut self, outcome: Outcome) {
        self.count += 1;
        self.hit += u64::from(outcome.hit);
        self.durations.push(outcome.duration);
        self.longest.push(outcome.longest);
        if !outcome.intact || !outcome.in_time() {
            self.violations.push(outcome);
        }
    }
}

fn quantiles(values: &[Duration]) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let at =
        |share: f64| sorted.get(((sorted.len() as f64 - 1.0) * share) as usize).copied().unwrap_or_default();
    format!(
        "median {:?}, 90 % {:?}, 99 % {:?}, 99.9 % {:?}, most {:?}",
        at(0.5),
        at(0.9),
        at(0.99),
        at(0.999),
        at(1.0)
    )
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} transfers, {} stalled too long or not intact", self.count, self.violations.len())?;
        writeln!(f, "{} of them with a link down on the way", self.hit)?;
        writeln!(f, "durations: {}", quantiles(&self.durations))?;
        writeln!(f, "longest stalls: {}", quantiles(&self.longest))?;
        for one in &self.violations {
            writeln!(
                f,
                "{} intact {} stalled {:?} of {:?} allowed\n{}",
                one.case, one.intact, one.worst.0, one.worst.1, one.said
            )?;
        }
        Ok(())
    }
}

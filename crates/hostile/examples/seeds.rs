//! Writes cases from seeds as files, as a fuzzer's initial corpus: `seeds DIRECTORY FIRST COUNT`.

use std::path::PathBuf;

use mptcp_hostile::draw;

fn main() -> std::io::Result<()> {
    let mut words = std::env::args().skip(1);
    let directory = PathBuf::from(words.next().unwrap_or_else(|| ".".to_owned()));
    let mut numbers = words.filter_map(|word| word.parse::<u64>().ok());
    let (first, count) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(100));
    for seed in first..first + count {
        std::fs::write(directory.join(format!("seed-{seed}")), draw::bytes_of(seed))?;
    }
    Ok(())
}

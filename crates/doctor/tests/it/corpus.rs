//! The inputs of the fuzz target `capture` (`fuzz/fuzz_targets/capture.rs`).

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::report_of;
use crate::hostile::check;

fn inputs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/capture");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    paths
}

/// The files in an input: its first byte states where the second one ends.
fn files(input: &[u8]) -> Vec<Vec<u8>> {
    let Some((&at, data)) = input.split_first() else { return Vec::new() };
    let (second, first) = data.split_at(data.len() * usize::from(at) / 256);
    [first, second].into_iter().filter(|part| !part.is_empty()).map(<[u8]>::to_vec).collect()
}

#[test]
fn inputs_of_the_fuzzer_give_reports() {
    let inputs = inputs();
    assert!(inputs.len() > 20, "{inputs:?}");
    let mut segments = 0;
    for path in inputs {
        let input = fs::read(&path).unwrap();
        if let Ok(report) = report_of(&files(&input)) {
            check(&report);
            segments += report.segments;
        }
        // One end of each.
        for file in files(&input) {
            if let Ok(report) = report_of(&[file]) {
                check(&report);
            }
        }
    }
    assert!(segments > 300, "{segments}");
}

#[test]
fn inputs_of_the_fuzzer_may_be_cut_anywhere() {
    for path in inputs() {
        let input = fs::read(&path).unwrap();
        for part in 1..20 {
            let cut = &input[..input.len() * part / 20];
            if let Ok(report) = report_of(&files(cut)) {
                check(&report);
            }
        }
    }
}

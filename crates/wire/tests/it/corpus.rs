//! Replays the corpora of the fuzz targets `options` and `packet`.

use std::path::Path;

use crate::fuzzed;

fn replay(name: &str, question: impl Fn(&[u8])) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let cases = std::fs::read_dir(&directory).expect("the corpus of the repository");
    let mut count = 0;
    for case in cases {
        let path = case.expect("a file of the corpus").path();
        question(&std::fs::read(&path).expect("a file that can be read"));
        count += 1;
    }
    assert!(count > 50, "{count} cases in {}", directory.display());
}

#[test]
fn options() {
    replay("options", fuzzed::options);
}

#[test]
fn packets() {
    replay("packet", fuzzed::packet);
}

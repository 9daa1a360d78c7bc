//! Prints the report of captures as JSON: `cargo run -p mptcp-doctor --example doctor FILE...`.

use mptcp_doctor::{HostFacts, examine};

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    match examine(&files, &HostFacts::default(), |_| true) {
        Ok(report) => println!("{}", serde_json::to_string(&report).unwrap_or_default()),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2);
        }
    }
}

//! A custom command: `extension run FILE` runs scenarios with the kinds of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    match extension::registry() {
        Ok(registry) => mptcp_lab::cli::run(registry),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

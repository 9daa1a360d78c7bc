//! A command of its own: `extension run FILE` runs scenarios that name what this crate adds.

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

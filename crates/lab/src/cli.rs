//! The command line of a custom build, a Rust program with its own policies: runs scenarios that use them.
//!
//! Owns arguments, exit codes and error output. Exit codes: 0 success, 1 failed run, 2 bad input.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use crate::events::Filter;
use crate::export::export;
use crate::measurements::Measurements;
use crate::registry::Registry;
use crate::scenario::{Draft, Scenario, ScenarioError};
use crate::summary::summary;
use crate::world::{RunError, World};

const USAGE: &str = "usage: COMMAND run FILE [--seed N] [--set KEY=VALUE]... [--output DIR]
       COMMAND schema
       COMMAND reference

run        run a scenario file and print a summary; --output writes scenario and tables (CSV)
schema     print the JSON Schema of scenario files
reference  print the reference page of scenario files
";

/// An error of [`run_file`].
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The scenario is invalid.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The run ended early.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Runs a scenario file with the names of `registry`; `values` are overrides (key, value) as of `--set`.
///
/// # Errors
/// An invalid scenario, or an early end of the run.
pub fn run_file(
    registry: &Arc<Registry>,
    file: impl AsRef<Path>,
    seed: u64,
    values: &[(String, String)],
) -> Result<(Scenario, Measurements), FileError> {
    let mut draft = Draft::load_with(file, registry)?;
    for (key, value) in values {
        draft.set(key, value)?;
    }
    for deprecation in draft.deprecations() {
        eprintln!("warning: {deprecation}");
    }
    let scenario = draft.finish()?;
    let mut world = World::new(&scenario, seed).map_err(RunError::from)?;
    world.observe(Filter::NONE);
    let measured = world.run()?;
    Ok((scenario, measured))
}

/// The `main` function of a command: parses the arguments, executes them, and returns the exit code.
#[must_use]
pub fn run(registry: Registry) -> ExitCode {
    match execute(&Arc::new(registry), std::env::args_os().skip(1)) {
        Ok(text) => {
            let mut out = std::io::stdout().lock();
            // A closed pipe is not an error.
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
            ExitCode::SUCCESS
        }
        Err((code, problem)) => {
            eprintln!("{problem}");
            ExitCode::from(code)
        }
    }
}

/// Exit code and message.
type Failure = (u8, String);

fn execute(registry: &Arc<Registry>, arguments: impl Iterator<Item = OsString>) -> Result<String, Failure> {
    let mut arguments = arguments;
    let command = arguments.next().unwrap_or_default();
    match command.to_str() {
        Some("run") => run_one(registry, &Arguments::read(arguments)?),
        Some("schema") => Ok(format!("{:#}\n", registry.json_schema())),
        Some("reference") => Ok(registry.reference_page()),
        Some("-h" | "--help" | "help") => Ok(USAGE.to_owned()),
        _ => Err((2, USAGE.trim_end().to_owned())),
    }
}

fn run_one(registry: &Arc<Registry>, given: &Arguments) -> Result<String, Failure> {
    let (scenario, measured) =
        run_file(registry, &given.file, given.seed, &given.values).map_err(|error| match error {
            FileError::Scenario(error) => (2, error.to_string()),
            FileError::Run(error) => (1, error.to_string()),
        })?;
    let mut text = summary(&scenario, given.seed, &measured);
    if let Some(directory) = &given.output {
        export(directory, &scenario, given.seed, &measured)
            .map_err(|error| (1, format!("cannot write to {}: {error}", directory.display())))?;
        text += &format!("written to {}\n", directory.display());
    }
    Ok(text)
}

/// Arguments of `run`.
#[derive(Debug, Default)]
struct Arguments {
    file: PathBuf,
    seed: u64,
    values: Vec<(String, String)>,
    output: Option<PathBuf>,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = OsString>) -> Result<Self, Failure> {
        let mut given = Self { seed: 1, ..Self::default() };
        let mut files = Vec::new();
        while let Some(word) = words.next() {
            let name = word.to_string_lossy().into_owned();
            if !name.starts_with("--") {
                files.push(PathBuf::from(word));
                continue;
            }
            let Some(value) = words.next() else { return Err(bad(&format!("{name} needs a value"))) };
            let text = value.to_string_lossy().into_owned();
            match name.as_str() {
                "--output" => given.output = Some(PathBuf::from(value)),
                "--seed" => {
                    given.seed =
                        text.parse().map_err(|_| bad(&format!("--seed {text}: must be a whole number")))?;
                }
                "--set" => {
                    let Some((key, value)) = text.split_once('=') else {
                        return Err(bad(&format!(
                            "--set {text}: must be KEY=VALUE (try paths.wifi.loss=1%)"
                        )));
                    };
                    given.values.push((key.to_owned(), value.to_owned()));
                }
                _ => return Err(bad(&format!("there is no option {name}"))),
            }
        }
        match <[PathBuf; 1]>::try_from(files) {
            Ok([file]) => Ok(Self { file, ..given }),
            Err(files) => Err(bad(&format!("run takes one FILE, not {}", files.len()))),
        }
    }
}

fn bad(problem: &str) -> Failure {
    (2, format!("{problem}\n{}", USAGE.trim_end()))
}

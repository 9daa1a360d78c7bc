//! Rules that the compiler does not check.
//!
//! This crate has no unit tests in `src` (`test = false`): they would never run. Crates of the simulator use no function
//! whose result depends on the platform.

use std::fs;
use std::path::Path;

/// The texts of all files of a directory, without tests.
fn rust_files(directory: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).unwrap_or_else(|error| panic!("{error}")).flatten() {
        let path = entry.path();
        if path.file_stem().is_some_and(|name| name == "tests") {
            continue;
        }
        if path.is_dir() {
            rust_files(&path, found);
        } else {
            found.push(
                fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
            );
        }
    }
}

#[test]
fn tests_are_beside_the_library() {
    let mut files = Vec::new();
    rust_files(Path::new("src"), &mut files);
    assert!(files.len() > 50, "{}", files.len());
    assert!(!files.iter().any(|text| text.contains("#[test]") || text.contains("cfg(test)")));
}

/// Methods of `f64` that call the mathematical library of the platform, or whose precision the documentation leaves open.
const PLATFORM: [&str; 24] = [
    ".ln(",
    ".log10(",
    ".log2(",
    ".log(",
    ".ln_1p(",
    ".exp(",
    ".exp2(",
    ".exp_m1(",
    ".powf(",
    ".powi(",
    ".cbrt(",
    ".hypot(",
    ".sin(",
    ".cos(",
    ".tan(",
    ".sin_cos(",
    ".asin(",
    ".acos(",
    ".atan(",
    ".atan2(",
    ".sinh(",
    ".cosh(",
    ".tanh(",
    ".mul_add(",
];

#[test]
fn the_simulator_uses_no_mathematics_of_the_platform() {
    let mut files = Vec::new();
    for name in ["clock", "wire", "mptcp", "netsim", "lab"] {
        rust_files(&Path::new("..").join(name).join("src"), &mut files);
    }
    assert!(files.len() > 200, "{}", files.len());
    let code = |text: &String| text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned();
    let used: Vec<String> = files
        .iter()
        .flat_map(|text| code(text).lines().map(str::to_owned).collect::<Vec<_>>())
        .filter(|line| {
            !line.trim_start().starts_with("//") && PLATFORM.iter().any(|method| line.contains(method))
        })
        .collect();
    assert!(used.is_empty(), "use mptcp_clock::math: {used:#?}");
}

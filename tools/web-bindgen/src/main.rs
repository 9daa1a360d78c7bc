//! Writes the JavaScript that loads the simulator in a browser: `web-bindgen INPUT.wasm DIRECTORY`.

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, directory] = arguments.as_slice() else {
        eprintln!("usage: web-bindgen INPUT.wasm DIRECTORY");
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    let web = match bindgen.input_path(input).web(true) {
        Ok(web) => web.typescript(true).generate(directory),
        Err(error) => Err(error),
    };
    match web {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("web-bindgen: {error:#}");
            ExitCode::FAILURE
        }
    }
}

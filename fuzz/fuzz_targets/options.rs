//! Any bytes are options or an error; options come back as the same bytes, and mean the same in
//! canonical form.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mptcp_wire::Options;

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut options) = Options::parse(bytes) else { return };
    assert_eq!(options.length(), bytes.len(), "length of {options:?}");
    let emitted = options.emit().expect("what was parsed has a form");
    assert_eq!(emitted.as_slice(), bytes, "bytes of {options:?}");

    options.make_canonical();
    let Ok(canonical) = options.emit() else {
        assert!(options.length() > Options::SPACE, "only room can lack: {options:?}");
        return;
    };
    assert_eq!(canonical.len(), options.length(), "length of {options:?}");
    assert_eq!(Options::parse(&canonical).as_ref(), Ok(&options));
});

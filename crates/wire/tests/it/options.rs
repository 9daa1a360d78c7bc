//! TCP options: every form, the layout of Linux, malformed options and unknown options.

use mptcp_wire::{EmitError, MptcpOption, OptionError, Options, RemoveAddress, Seq, Timestamps};

fn emitted(options: &Options) -> Vec<u8> {
    let bytes = options.emit().expect("room").to_vec();
    assert_eq!(bytes.len(), options.length());
    bytes
}

fn syn() -> Options {
    let mut options = Options::default();
    options.mss = Some(1460);
    options.sack_permitted = true;
    options.timestamps = Some(Timestamps { value: 0x0102_0304, echo: 0 });
    options.window_scale = Some(7);
    options
}

#[test]
fn no_options_take_no_bytes() {
    assert_eq!(emitted(&Options::default()), []);
    assert_eq!(Options::parse(&[]), Ok(Options::default()));
}

#[test]
fn a_syn_is_laid_out_as_linux_does() {
    let bytes = [2, 4, 5, 180, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 7];
    assert_eq!(emitted(&syn()), bytes);
    assert_eq!(Options::parse(&bytes), Ok(syn()));
}

#[test]
fn a_syn_without_timestamps_pads_sack_permitted() {
    let mut options = syn();
    options.timestamps = None;
    assert_eq!(emitted(&options), [2, 4, 5, 180, 1, 1, 4, 2, 1, 3, 3, 7]);
}

#[test]
fn data_segments_pad_timestamps_and_sack_in_front() {
    let mut options = Options::default();
    options.timestamps = Some(Timestamps { value: 1, echo: 2 });
    options.sack.push((Seq::new(16), Seq::new(32)));
    assert_eq!(
        emitted(&options),
        [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 1, 5, 10, 0, 0, 0, 16, 0, 0, 0, 32]
    );
}

#[test]
fn four_sack_blocks_fit_alone_and_three_beside_timestamps() {
    let mut options = Options::default();
    options.sack = (0..4).map(|n| (Seq::new(n), Seq::new(n + 1))).collect();
    assert_eq!(Options::parse(&emitted(&options)), Ok(options.clone()));
    options.timestamps = Some(Timestamps { value: 1, echo: 2 });
    assert_eq!(options.emit(), Err(EmitError::OptionSpace { length: 48 }));
    options.sack.pop();
    assert_eq!(emitted(&options).len(), 40);
}

#[test]
fn an_option_that_cannot_be_padded_within_the_space_is_refused_not_cut() {
    let mut options = syn();
    let ids = (0..18).collect();
    options.mptcp.push(MptcpOption::RemoveAddress(RemoveAddress { ids }));
    assert_eq!(options.emit(), Err(EmitError::OptionSpace { length: 44 }));
}

#[test]
fn unknown_kinds_are_kept_verbatim() {
    let bytes = [34, 4, 0xab, 0xcd, 2, 4, 5, 180];
    let mut options = Options::parse(&bytes).unwrap();
    assert_eq!(options.mss, Some(1460));
    assert_eq!(emitted(&options), bytes);
    options.make_canonical();
    assert_eq!(emitted(&options), [2, 4, 5, 180]);
}

#[test]
fn a_changed_field_counts_more_than_the_verbatim_form() {
    let mut options = Options::parse(&[34, 4, 0xab, 0xcd, 2, 4, 5, 180]).unwrap();
    options.mss = Some(1400);
    assert_eq!(emitted(&options), [2, 4, 5, 120]);
    options.mss = Some(1460);
    assert_eq!(emitted(&options), [34, 4, 0xab, 0xcd, 2, 4, 5, 180]);
}

#[test]
fn another_order_and_other_padding_are_kept_verbatim() {
    let bytes = [3, 3, 7, 2, 4, 5, 180, 4, 2, 0, 9, 9];
    let options = Options::parse(&bytes).unwrap();
    assert_eq!((options.mss, options.window_scale, options.sack_permitted), (Some(1460), Some(7), true));
    assert_eq!(emitted(&options), bytes);
}

#[test]
fn nothing_after_the_end_of_options_counts() {
    let options = Options::parse(&[0, 2, 0, 99]).unwrap();
    assert_eq!(options.mss, None);
    assert_eq!(emitted(&options), [0, 2, 0, 99]);
}

#[test]
fn the_last_of_repeated_options_counts() {
    let bytes = [2, 4, 0, 1, 2, 4, 0, 2];
    let options = Options::parse(&bytes).unwrap();
    assert_eq!(options.mss, Some(2));
    assert_eq!(emitted(&options), bytes);
}

#[test]
fn a_window_scale_beyond_14_is_kept_as_it_came() {
    assert_eq!(Options::parse(&[1, 3, 3, 200]).unwrap().window_scale, Some(200));
}

#[test]
fn a_length_that_leaves_the_field_is_named_with_its_place() {
    let error = Options::parse(&[1, 1, 8, 10]).unwrap_err();
    assert_eq!(error, OptionError::Length { kind: 8, offset: 2, length: 10, room: 2 });
    assert_eq!(error.to_string(), "option kind 8 at offset 2 has length 10: must be 2 to 2");
}

#[test]
fn a_length_below_two_is_an_error_even_of_unknown_kinds() {
    for length in [0, 1] {
        let error = Options::parse(&[1, 77, length, 1]).unwrap_err();
        assert_eq!(error, OptionError::Length { kind: 77, offset: 1, length, room: 3 });
    }
}

#[test]
fn a_kind_without_a_length_is_an_error() {
    assert_eq!(Options::parse(&[1, 1, 1, 2]), Err(OptionError::NoLength { kind: 2, offset: 3 }));
}

#[test]
fn known_kinds_of_a_wrong_size_are_errors_that_say_the_right_one() {
    let cases: [(&[u8], &str); 7] = [
        (&[2, 3, 0, 1], "option kind 2 (maximum segment size) at offset 0 has length 3: must be 4"),
        (
            &[2, 5, 0, 1, 0, 1, 1, 1],
            "option kind 2 (maximum segment size) at offset 0 has length 5: must be 4",
        ),
        (&[1, 1, 3, 2], "option kind 3 (window scale) at offset 2 has length 2: must be 3"),
        (&[4, 3, 0, 1], "option kind 4 (SACK permitted) at offset 0 has length 3: must be 2"),
        (&[1, 1, 5, 2], "option kind 5 (SACK) at offset 2 has length 2: must be 10, 18, 26 or 34"),
        (
            &[5, 6, 0, 0, 0, 0, 1, 1],
            "option kind 5 (SACK) at offset 0 has length 6: must be 10, 18, 26 or 34",
        ),
        (&[8, 8, 0, 0, 0, 0, 0, 0], "option kind 8 (timestamps) at offset 0 has length 8: must be 10"),
    ];
    for (bytes, message) in cases {
        assert_eq!(Options::parse(bytes).unwrap_err().to_string(), message);
    }
}

#[test]
fn a_field_of_a_size_that_no_header_has_is_an_error() {
    for length in [1, 2, 3, 39, 41, 44] {
        assert_eq!(Options::parse(&vec![1; length]), Err(OptionError::Space { length }));
    }
}

/// RFC 7413 section 4.1.1; cookies of other sizes are kept as unknown options.
#[test]
fn cookies_have_an_older_form_too() {
    let bytes = [254, 8, 0xf9, 0x89, 1, 2, 3, 4];
    let options = Options::parse(&bytes).expect("a shared experiment");
    assert!(options.fast_open_experimental);
    assert_eq!(options.fast_open.as_deref(), Some(&[1, 2, 3, 4][..]));
    let mut canonical = options.clone();
    canonical.make_canonical();
    assert_eq!((options.length(), canonical.emit().expect("it fits").as_slice()), (8, &bytes[..]));
    // Another experiment is an unknown option.
    assert_eq!(Options::parse(&[254, 4, 0x12, 0x34]).expect("unknown").fast_open, None);
}

#[test]
fn cookies_of_fast_open_are_padded_and_other_sizes_are_unknown() {
    let mut options = Options::default();
    options.fast_open = Some([1, 2, 3, 4].into_iter().collect());
    let bytes = options.emit().unwrap();
    assert_eq!(bytes.as_slice(), [34, 6, 1, 2, 3, 4, 1, 1]);
    assert_eq!(Options::parse(&bytes).unwrap(), options);
    options.fast_open = Some(mptcp_wire::Cookie::new());
    let bytes = options.emit().unwrap();
    assert_eq!(bytes.as_slice(), [34, 2, 1, 1]);
    assert_eq!(Options::parse(&bytes).unwrap(), options);
    let odd = Options::parse(&[34, 5, 1, 2, 3, 1, 1, 1]).unwrap();
    assert_eq!(odd.fast_open, None);
    assert_eq!(odd.emit().unwrap().as_slice(), [34, 5, 1, 2, 3, 1, 1, 1]);
}

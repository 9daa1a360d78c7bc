//! Reasons of MP_TCPRST in words.

/// A reason in MP_TCPRST in words (RFC 8684 section 3.6).
pub(crate) fn reset_reason(reason: u8) -> String {
    let known = match reason {
        0 => "unspecified error",
        1 => "MPTCP-specific error",
        2 => "lack of resources",
        3 => "administratively prohibited",
        4 => "too much outstanding data",
        5 => "unacceptable performance",
        6 => "middlebox interference",
        _ => return format!("reason {reason}"),
    };
    format!("{known} (reason {reason})")
}

//! The service's own signature (`spec.md` §5.5): the headers `Service-Timestamp` and `Service-Signature`.

use std::fmt::Write;

use crate::VerifyError;
use crate::mac::{check_age, compare, hmac_sha256};

/// The value of `Service-Signature`: `sha256=` and the lower-case hex of HMAC-SHA256 over `<timestamp>.<raw body>`,
/// keyed with the bytes of the whole secret as it was shown. `timestamp` is in Unix seconds, and its decimal text is
/// the value of `Service-Timestamp`.
pub fn sign(secret: &str, timestamp: i64, body: &[u8]) -> String {
    signature(secret, &timestamp.to_string(), body)
}

/// Checks the two headers of a webhook against its raw body.
///
/// `now_unix` is the receiver's clock in Unix seconds; a webhook signed more than `tolerance_seconds` before or after it
/// is refused, however good its signature. 300 seconds suit most receivers: each attempt is signed anew when it is sent.
///
/// # Errors
/// When the webhook is not to be trusted; answer 401.
pub fn verify(
    secret: &str,
    timestamp_header: &str,
    signature_header: &str,
    body: &[u8],
    now_unix: i64,
    tolerance_seconds: u32,
) -> Result<(), VerifyError> {
    check_age(timestamp_header, now_unix, tolerance_seconds)?;
    // The header's own text is signed, not the number read from it.
    let expected = signature(secret, timestamp_header, body);
    compare(signature_header.as_bytes(), expected.as_bytes())
}

fn signature(secret: &str, timestamp: &str, body: &[u8]) -> String {
    let mut text = String::with_capacity(71);
    text.push_str("sha256=");
    for byte in hmac_sha256(secret.as_bytes(), [timestamp.as_bytes(), body]) {
        write!(text, "{byte:02x}").unwrap_or_else(|_| unreachable!("writing to a String does not fail"));
    }
    text
}

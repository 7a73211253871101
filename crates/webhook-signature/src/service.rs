//! Waybill's own signature (SPECIFICATION §5.5): the headers `Service-Timestamp` and `Service-Signature`.

use std::fmt::Write;

use crate::VerifyError;
use crate::mac::{check_age, compare, hmac_sha256};

/// The value of `Service-Signature`: `sha256=` and the lower-case hex of HMAC-SHA256 over `<timestamp>.<raw body>`. The
/// key is the bytes of the whole secret, including `whsec_`. `timestamp` is in Unix seconds; its decimal text is the
/// value of `Service-Timestamp`.
pub fn sign(secret: &str, timestamp: i64, body: &[u8]) -> String {
    signature(secret, &timestamp.to_string(), body)
}

/// Checks the two headers of a webhook against its raw body.
///
/// `now_unix` is the receiver's clock in Unix seconds. The signature is refused if it is more than `tolerance_seconds`
/// older or newer. 300 seconds suit most receivers, because each attempt is signed when it is sent.
///
/// # Errors
/// When the webhook cannot be trusted; answer 401.
pub fn verify(
    secret: &str,
    timestamp_header: &str,
    signature_header: &str,
    body: &[u8],
    now_unix: i64,
    tolerance_seconds: u32,
) -> Result<(), VerifyError> {
    check_age(timestamp_header, now_unix, tolerance_seconds)?;
    // The signature covers the text of the header, not the parsed number.
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

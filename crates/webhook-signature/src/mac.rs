//! The HMAC and the checks of both signature schemes.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::VerifyError;

/// HMAC-SHA256 over the parts joined by dots.
pub(crate) fn hmac_sha256(key: &[u8], parts: [&[u8]; 2]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key)
        .unwrap_or_else(|_| unreachable!("an HMAC takes a key of any length"));
    mac.update(parts[0]);
    mac.update(b".");
    mac.update(parts[1]);
    mac.finalize().into_bytes().into()
}

/// Compares in constant time. The length is no secret.
pub(crate) fn compare(given: &[u8], expected: &[u8]) -> Result<(), VerifyError> {
    if given.len() != expected.len() {
        return Err(VerifyError::WrongLength);
    }
    if bool::from(given.ct_eq(expected)) { Ok(()) } else { Err(VerifyError::Mismatch) }
}

/// Requires that the webhook was signed within `tolerance_seconds` of now, so that a recorded webhook cannot be
/// replayed later.
pub(crate) fn check_age(
    timestamp_header: &str,
    now_unix: i64,
    tolerance_seconds: u32,
) -> Result<(), VerifyError> {
    // `parse` alone would also accept a sign.
    if !timestamp_header.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(VerifyError::MalformedTimestamp);
    }
    let signed_at: i64 = timestamp_header.parse().map_err(|_| VerifyError::MalformedTimestamp)?;
    let age = now_unix.saturating_sub(signed_at);
    match age {
        _ if age > i64::from(tolerance_seconds) => Err(VerifyError::TooOld),
        _ if age < -i64::from(tolerance_seconds) => Err(VerifyError::TooNew),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_age_is_bounded_on_both_sides() {
        for (timestamp, expected) in [
            ("1000", Ok(())),
            ("700", Ok(())),
            ("1300", Ok(())),
            ("699", Err(VerifyError::TooOld)),
            ("1301", Err(VerifyError::TooNew)),
            ("0", Err(VerifyError::TooOld)),
            ("9223372036854775807", Err(VerifyError::TooNew)),
            ("9223372036854775808", Err(VerifyError::MalformedTimestamp)),
            ("", Err(VerifyError::MalformedTimestamp)),
            ("-1000", Err(VerifyError::MalformedTimestamp)),
            ("+1000", Err(VerifyError::MalformedTimestamp)),
            (" 1000", Err(VerifyError::MalformedTimestamp)),
            ("1000.0", Err(VerifyError::MalformedTimestamp)),
        ] {
            assert_eq!(check_age(timestamp, 1_000, 300), expected, "{timestamp:?}");
        }
        assert_eq!(check_age("0", i64::MIN, u32::MAX), Err(VerifyError::TooNew));
    }
}

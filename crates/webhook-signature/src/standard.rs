//! The signature of [Standard Webhooks](https://www.standardwebhooks.com): the headers `webhook-id`,
//! `webhook-timestamp` and `webhook-signature`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::mac::{check_age, compare, hmac_sha256};
use crate::{MalformedSecret, VerifyError, secret};

/// The number of signatures checked in one header; a rotation needs two.
const SIGNATURES_MAX: usize = 8;

/// One entry of `webhook-signature`: `v1,` and the base64 of HMAC-SHA256 over `<id>.<timestamp>.<raw body>`. The key is
/// the decoded bytes after `whsec_`. `timestamp` is in Unix seconds. A space separates the entries of several secrets.
///
/// # Errors
/// When the secret is not `whsec_` and base64.
pub fn sign(secret: &str, id: &str, timestamp: i64, body: &[u8]) -> Result<String, MalformedSecret> {
    signature(secret, id, &timestamp.to_string(), body)
}

/// Checks the three headers of a webhook against its raw body. One valid signature in the list is enough.
/// `now_unix` and `tolerance_seconds` are as in [`crate::verify`].
///
/// # Errors
/// When the webhook cannot be trusted; answer 401.
pub fn verify(
    secret: &str,
    id_header: &str,
    timestamp_header: &str,
    signature_header: &str,
    body: &[u8],
    now_unix: i64,
    tolerance_seconds: u32,
) -> Result<(), VerifyError> {
    check_age(timestamp_header, now_unix, tolerance_seconds)?;
    let expected = signature(secret, id_header, timestamp_header, body)?;
    signature_header
        .split(' ')
        .take(SIGNATURES_MAX)
        .map(|given| compare(given.as_bytes(), expected.as_bytes()))
        .reduce(better)
        .unwrap_or(Err(VerifyError::Mismatch))
}

/// Prefers a match, then a mismatch, because an entry of an unknown version says less.
fn better(one: Result<(), VerifyError>, other: Result<(), VerifyError>) -> Result<(), VerifyError> {
    match (one, other) {
        (Ok(()), _) | (_, Ok(())) => Ok(()),
        (Err(VerifyError::WrongLength), other) => other,
        (one, _) => one,
    }
}

fn signature(secret: &str, id: &str, timestamp: &str, body: &[u8]) -> Result<String, MalformedSecret> {
    let key = secret::decode(secret)?;
    let head = format!("{id}.{timestamp}");
    Ok(format!("v1,{}", STANDARD.encode(hmac_sha256(&key, [head.as_bytes(), body]))))
}

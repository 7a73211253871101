//! Signs and verifies webhooks. No I/O: pass the secret, the headers, the raw body and the time.
//!
//! A receiver must verify a webhook **before** it parses the body, on the exact bytes that arrived: JSON that was parsed
//! and serialized again has other bytes and another signature.
//!
//! ```
//! # let secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
//! # let raw_body = br#"{"event":"order.delivered"}"#;
//! # let now_unix = 1_750_000_004;
//! # let (timestamp, signature) = ("1750000000", &webhook_signature::sign(secret, 1_750_000_000, raw_body));
//! // `timestamp` and `signature` are the values of the headers Service-Timestamp and Service-Signature.
//! match webhook_signature::verify(secret, timestamp, signature, raw_body, now_unix, 300) {
//!     Ok(()) => { /* answer 200 at once, work afterwards */ }
//!     Err(_) => { /* answer 401 */ }
//! }
//! # assert!(webhook_signature::verify(secret, timestamp, signature, raw_body, now_unix, 300).is_ok());
//! ```
//!
//! Each webhook carries two signatures of the same body; verifying one of them is enough:
//!
//! | headers | functions | key of the HMAC-SHA256 | signed text |
//! | --- | --- | --- | --- |
//! | `Service-Timestamp`, `Service-Signature` | [`sign`], [`verify`] | the bytes of the whole secret as shown, `whsec_` included | `<timestamp>.<raw body>` |
//! | `webhook-id`, `webhook-timestamp`, `webhook-signature` | [`standard::sign`], [`standard::verify`] | the base64-decoded bytes after `whsec_` | `<id>.<timestamp>.<raw body>` |
//!
//! The second is [Standard Webhooks](https://www.standardwebhooks.com), for receivers that use one of its libraries.
//! While a secret is being rotated, `Service-Signature-Next` carries the signature of the new secret, and
//! `webhook-signature` lists both.

mod error;
mod mac;
mod secret;
mod service;
pub mod standard;

pub use error::{MalformedSecret, VerifyError};
pub use secret::Secret;
pub use service::{sign, verify};

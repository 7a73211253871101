//! A digest of a search, for the operator's log: it distinguishes searches, and reveals no phone or e-mail address.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Enough to distinguish the searches of some minutes.
const BYTES: usize = 6;

/// Depends on a secret. Otherwise a reader of the log could find a phone by trying all numbers.
pub(crate) fn search_digest(secret: &str, text: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes())
        .unwrap_or_else(|_| unreachable!("HMAC takes a key of any length"));
    mac.update(b"a search in the operator's log\0");
    mac.update(text.as_bytes());
    let digest = mac.finalize().into_bytes();
    base16ct::lower::encode_string(&digest[..BYTES])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_depends_on_the_text_and_on_the_secret() {
        let digest = search_digest("the operator's token", "+919876543210");
        assert_eq!(digest.len(), 2 * BYTES);
        assert_eq!(digest, search_digest("the operator's token", "+919876543210"));
        assert_ne!(digest, search_digest("the operator's token", "+919876543211"));
        assert_ne!(digest, search_digest("the next token", "+919876543210"));
    }
}

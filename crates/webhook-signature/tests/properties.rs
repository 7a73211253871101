//! Signed webhooks verify; changed ones do not.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic like the tests themselves")]

use proptest::prelude::*;
use webhook_signature::{Secret, VerifyError, sign, standard, verify};

const NOW: i64 = 1_750_000_000;

proptest! {
    #[test]
    fn signed_webhooks_verify(secret in any::<[u8; 32]>(), body in any::<Vec<u8>>(), id in "[a-zA-Z0-9_]{1,40}") {
        let secret = Secret::generate(secret);
        let own = sign(secret.expose(), NOW, &body);
        prop_assert_eq!(verify(secret.expose(), &NOW.to_string(), &own, &body, NOW, 0), Ok(()));
        let listed = standard::sign(secret.expose(), &id, NOW, &body).unwrap();
        prop_assert_eq!(
            standard::verify(secret.expose(), &id, &NOW.to_string(), &listed, &body, NOW, 0),
            Ok(())
        );
    }

    #[test]
    fn any_changed_byte_of_the_body_fails(
        secret in any::<[u8; 32]>(),
        body in proptest::collection::vec(any::<u8>(), 1..200),
        at in any::<proptest::sample::Index>(),
        flip in 1..=u8::MAX,
    ) {
        let secret = Secret::generate(secret);
        let (own, listed) = both(&secret, &body);
        let mut changed = body;
        let at = at.index(changed.len());
        changed[at] ^= flip;
        prop_assert_eq!(check(&secret, &own, &listed, &changed), [Err(VerifyError::Mismatch); 2]);
    }

    #[test]
    fn a_body_cut_or_lengthened_fails(
        secret in any::<[u8; 32]>(),
        body in proptest::collection::vec(any::<u8>(), 1..200),
        more in any::<u8>(),
    ) {
        let secret = Secret::generate(secret);
        let (own, listed) = both(&secret, &body);
        prop_assert_eq!(check(&secret, &own, &listed, &body[1..]), [Err(VerifyError::Mismatch); 2]);
        let longer = [&body[..], &[more]].concat();
        prop_assert_eq!(check(&secret, &own, &listed, &longer), [Err(VerifyError::Mismatch); 2]);
    }

    #[test]
    fn any_changed_character_of_the_signature_fails(
        secret in any::<[u8; 32]>(),
        body in any::<Vec<u8>>(),
        at in any::<proptest::sample::Index>(),
    ) {
        let secret = Secret::generate(secret);
        let (own, listed) = both(&secret, &body);
        let [own, listed] = [own, listed].map(|signature| change(&signature, at));
        prop_assert_eq!(check(&secret, &own, &listed, &body), [Err(VerifyError::Mismatch); 2]);
    }

    #[test]
    fn another_secret_fails(secret in any::<[u8; 32]>(), other in any::<[u8; 32]>(), body in any::<Vec<u8>>()) {
        prop_assume!(secret != other);
        let (own, listed) = both(&Secret::generate(other), &body);
        let checked = check(&Secret::generate(secret), &own, &listed, &body);
        prop_assert_eq!(checked, [Err(VerifyError::Mismatch); 2]);
    }

    /// A receiver gets arbitrary bytes; none may cause a panic.
    #[test]
    fn any_headers_are_answered(timestamp in any::<String>(), signature in any::<String>(), now in any::<i64>()) {
        let secret = Secret::generate([7; 32]);
        let own = verify(secret.expose(), &timestamp, &signature, b"body", now, 300);
        let listed = standard::verify(secret.expose(), "evt", &timestamp, &signature, b"body", now, 300);
        prop_assert!(own.is_err() && listed.is_err());
    }
}

fn both(secret: &Secret, body: &[u8]) -> (String, String) {
    (sign(secret.expose(), NOW, body), standard::sign(secret.expose(), "evt_1", NOW, body).unwrap())
}

fn check(secret: &Secret, own: &str, listed: &str, body: &[u8]) -> [Result<(), VerifyError>; 2] {
    let timestamp = NOW.to_string();
    [
        verify(secret.expose(), &timestamp, own, body, NOW, 300),
        standard::verify(secret.expose(), "evt_1", &timestamp, listed, body, NOW, 300),
    ]
}

/// Changes a character, but not into a space, which separates the entries.
fn change(signature: &str, at: proptest::sample::Index) -> String {
    let mut bytes = signature.as_bytes().to_vec();
    let at = at.index(bytes.len());
    bytes[at] = if bytes[at] == b'~' { b'!' } else { bytes[at] + 1 };
    String::from_utf8(bytes).unwrap()
}

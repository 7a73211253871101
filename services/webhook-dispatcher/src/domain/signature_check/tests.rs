//! Makes every common mistake and checks that it is named.

use base64::engine::general_purpose::STANDARD_NO_PAD;
use proptest::prelude::*;
use webhook_signature::Secret;

use super::*;

const NOW: i64 = 1_750_000_010;
const AT: &str = "1750000000";
const ID: &str = "evt_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const BODY: &[u8] = br#"{"id":"evt_01ARZ3NDEKTSV4RRFFQ69G5FAV","event":"order.delivered","sequence":5}"#;

fn secret(byte: u8) -> Secret {
    Secret::generate([byte; 32])
}

fn secrets() -> SigningSecrets {
    SigningSecrets { current: secret(7), next: None }
}

fn rotating() -> SigningSecrets {
    SigningSecrets { current: secret(7), next: Some(secret(8)) }
}

fn evidence(scheme: Scheme, signature: impl Into<String>) -> Evidence {
    Evidence {
        scheme,
        timestamp: AT.to_owned(),
        id: ID.to_owned(),
        signature: signature.into(),
        body: BODY.to_vec(),
        sent: None,
    }
}

/// A signature made with the library for integrators.
fn own(secret: &Secret, body: &[u8]) -> String {
    webhook_signature::sign(secret.expose(), AT.parse().unwrap(), body)
}

fn standard(secret: &Secret, body: &[u8]) -> String {
    webhook_signature::standard::sign(secret.expose(), ID, AT.parse().unwrap(), body).unwrap()
}

fn codes(secrets: &SigningSecrets, evidence: &Evidence) -> Vec<&'static str> {
    let findings = check(secrets, evidence, NOW);
    assert_eq!(findings.matches, findings.problems.is_empty(), "{findings:?}");
    let told = format!("{findings:?}");
    assert!(!told.contains(&own(&secret(7), &evidence.body)), "no signature is made: {told}");
    assert!(!told.contains("whsec_B") && !told.contains(&secret(7).expose()[6..]), "no secret is revealed");
    findings.problems.into_iter().map(|problem| problem.code).collect()
}

#[test]
fn our_signatures_match() {
    for secrets in [secrets(), rotating()] {
        let findings = check(&secrets, &evidence(Scheme::Service, own(&secret(7), BODY)), NOW);
        assert!(findings.matches && findings.problems.is_empty(), "{findings:?}");
        assert_eq!(findings.string_to_sign, [AT.as_bytes(), b".", BODY].concat());
        let findings = check(&secrets, &evidence(Scheme::Standard, standard(&secret(7), BODY)), NOW);
        assert!(findings.matches, "{findings:?}");
        assert_eq!(findings.string_to_sign, [ID.as_bytes(), b".", AT.as_bytes(), b".", BODY].concat());
    }
    let both = format!("{} {}", standard(&secret(7), BODY), standard(&secret(8), BODY));
    assert_eq!(codes(&rotating(), &evidence(Scheme::Standard, both)), [""; 0]);
    assert_eq!(codes(&rotating(), &evidence(Scheme::Standard, standard(&secret(8), BODY))), [""; 0]);
    assert_eq!(codes(&rotating(), &evidence(Scheme::ServiceNext, own(&secret(8), BODY))), [""; 0]);
}

#[test]
fn each_common_mistake_is_named() {
    let good = own(&secret(7), BODY);
    let bytes = digest(&whole(secret(7).expose()), &[AT.as_bytes(), b".", BODY].concat());
    let by = |key: &[u8], text: &[u8]| written(Scheme::Service, &digest(key, text));
    let right_text = [AT.as_bytes(), b".", BODY].concat();
    for (signature, expected) in [
        (good[7..].to_owned(), "prefix_missing"),
        (good.replace("sha256=", "SHA256="), "wrong_prefix"),
        (format!("v1,{}", &good[7..]), "wrong_prefix"),
        (format!("sha256={}", good[7..].to_uppercase()), "upper_case_hex"),
        (format!("sha256={}", STANDARD.encode(bytes)), "base64_instead_of_hex"),
        (format!("{good} "), "white_space"),
        ("sha256=abc".to_owned(), "signature_malformed"),
        (by(&decoded(secret(7).expose()), &right_text), "key_decoded"),
        (by(&secret(7).expose().as_bytes()[6..], &right_text), "key_without_prefix"),
        (by(secret(7).expose().as_bytes(), BODY), "body_alone_signed"),
        (by(secret(7).expose().as_bytes(), &[AT.as_bytes(), BODY].concat()), "dot_missing"),
        (by(format!("{}\n", secret(7).expose()).as_bytes(), &right_text), "key_with_white_space"),
        (by(format!("{}\r\n", secret(8).expose()).as_bytes(), &right_text), "key_with_white_space"),
        (own(&secret(8), BODY), "signed_with_next_secret"),
        (own(&secret(9), BODY), "unexplained"),
    ] {
        assert_eq!(
            codes(&rotating(), &evidence(Scheme::Service, signature.clone())),
            [expected],
            "{signature}"
        );
    }
    let taken_for_own = evidence(Scheme::Service, standard(&secret(7), BODY));
    let told = codes(&secrets(), &taken_for_own);
    assert!(told.contains(&"wrong_prefix") && told.contains(&"base64_instead_of_hex"), "{told:?}");
    assert!(told.contains(&"other_scheme") && told.contains(&"key_decoded"), "{told:?}");
    let without_id = Evidence { id: String::new(), ..taken_for_own };
    assert_eq!(codes(&secrets(), &without_id), ["id_missing"]);
    let taken_for_next = evidence(Scheme::ServiceNext, own(&secret(7), BODY));
    assert_eq!(codes(&rotating(), &taken_for_next), ["signed_with_present_secret"]);
}

#[test]
fn mistakes_with_standard_webhooks_are_named() {
    let good = standard(&secret(7), BODY);
    let text = [ID.as_bytes(), b".", AT.as_bytes(), b".", BODY].concat();
    let bytes = digest(&decoded(secret(7).expose()), &text);
    for (signature, expected) in [
        (good[3..].to_owned(), "prefix_missing"),
        (good.replace("v1,", "v1="), "wrong_prefix"),
        (format!("v1,{}", lower::encode_string(&bytes)), "hex_instead_of_base64"),
        (format!("v1,{}", STANDARD_NO_PAD.encode(bytes)), "other_base64"),
        (written(Scheme::Standard, &digest(secret(7).expose().as_bytes(), &text)), "key_not_decoded"),
    ] {
        assert_eq!(
            codes(&secrets(), &evidence(Scheme::Standard, signature.clone())),
            [expected],
            "{signature}"
        );
    }
    let told = codes(&secrets(), &evidence(Scheme::Standard, own(&secret(7), BODY)));
    assert!(told.contains(&"key_not_decoded") && told.contains(&"other_scheme"), "{told:?}");
}

#[test]
fn changes_of_the_body_are_recognised() {
    let lines = b"{\n  \"id\": 1\n}".as_slice();
    let windows = b"{\r\n  \"id\": 1\r\n}".as_slice();
    let spaced = br#"{"id": "evt_01ARZ3NDEKTSV4RRFFQ69G5FAV", "event": "order.delivered", "sequence": 5}"#;
    let sorted = br#"{"event":"order.delivered","id":"evt_01ARZ3NDEKTSV4RRFFQ69G5FAV","sequence":5}"#;
    for (sent, given, known, expected) in [
        (BODY, [BODY, b"\n"].concat(), false, "trailing_newline"),
        (BODY, [BODY, b"\r\n"].concat(), false, "trailing_newline"),
        (&[BODY, b"\n"].concat(), BODY.to_vec(), false, "trailing_newline"),
        (BODY, [b"\xef\xbb\xbf", BODY].concat(), false, "byte_order_mark"),
        (lines, windows.to_vec(), false, "line_breaks_changed"),
        (windows, lines.to_vec(), false, "line_breaks_changed"),
        (sorted, spaced.to_vec(), false, "body_reserialised"),
        (BODY, spaced.to_vec(), true, "body_reserialised"),
        (BODY, sorted.to_vec(), true, "body_reserialised"),
        (BODY, BODY[..20].to_vec(), true, "other_body"),
        (BODY, BODY[..20].to_vec(), false, "other_body"),
        (BODY, BODY[40..].to_vec(), false, "other_body"),
        (BODY, Vec::new(), false, "other_body"),
        (BODY, b"{}".to_vec(), false, "unexplained"),
    ] {
        let given = Evidence {
            body: given,
            sent: known.then(|| sent.to_vec()),
            ..evidence(Scheme::Service, own(&secret(7), sent))
        };
        assert_eq!(codes(&secrets(), &given), [expected], "{}", String::from_utf8_lossy(&given.body));
    }
}

#[test]
fn white_space_is_reported() {
    let (good, by_next) = (own(&secret(7), BODY), own(&secret(8), BODY));
    for (scheme, timestamp, signature, expected) in [
        (Scheme::Service, format!(" {AT}"), good.clone(), vec!["white_space"]),
        (Scheme::Service, format!("{AT}\n"), format!(" {good}"), vec!["white_space", "white_space"]),
        (Scheme::Service, format!("{AT} "), by_next, vec!["white_space", "signed_with_next_secret"]),
        (Scheme::Standard, AT.to_owned(), format!("{}\r\n", standard(&secret(7), BODY)), vec!["white_space"]),
    ] {
        let given = Evidence { timestamp, ..evidence(scheme, signature) };
        assert_eq!(codes(&rotating(), &given), expected, "{given:?}");
    }
}

#[test]
fn a_swapped_timestamp_and_signature_are_reported() {
    for (scheme, signature, expected) in [
        (Scheme::Service, own(&secret(7), BODY), vec!["swapped"]),
        (Scheme::Service, own(&secret(8), BODY), vec!["swapped", "signed_with_next_secret"]),
        (Scheme::Service, own(&secret(7), BODY)[7..].to_owned(), vec!["swapped", "prefix_missing"]),
        (Scheme::Standard, standard(&secret(7), BODY), vec!["swapped"]),
    ] {
        let given = Evidence { timestamp: signature, ..evidence(scheme, AT) };
        assert_eq!(codes(&rotating(), &given), expected, "{given:?}");
    }
}

#[test]
fn a_header_without_a_staged_secret_is_reported() {
    for (by, matches, expected) in
        [(7, true, vec!["nothing_staged"]), (9, false, vec!["nothing_staged", "unexplained"])]
    {
        let given = evidence(Scheme::ServiceNext, own(&secret(by), BODY));
        let findings = check(&secrets(), &given, NOW);
        let told: Vec<_> = findings.problems.iter().map(|problem| problem.code).collect();
        assert_eq!((findings.matches, told), (matches, expected));
    }
}

#[test]
fn the_timestamp_is_checked() {
    let with = |timestamp: &str| {
        let good = own(&secret(7), BODY);
        let given = Evidence { timestamp: timestamp.to_owned(), ..evidence(Scheme::Service, good) };
        let findings = check(&secrets(), &given, NOW);
        findings.problems.into_iter().map(|problem| problem.code).collect::<Vec<_>>()
    };
    assert_eq!(with("1750000000"), [""; 0]);
    assert_eq!(with("1750000000000"), ["timestamp_in_milliseconds"]);
    assert_eq!(with("soon")[0], "timestamp_malformed");
    assert_eq!(with("")[0], "timestamp_malformed");
    assert_eq!(with("-5")[0], "timestamp_malformed");
    assert_eq!(with("1740000000")[0], "timestamp_too_old");
    assert_eq!(with("1760000000")[0], "timestamp_in_the_future");
    // An old timestamp with a matching signature is only old.
    let old = Evidence { ..evidence(Scheme::Service, own(&secret(7), BODY)) };
    let findings = check(&secrets(), &old, NOW + 1_000);
    assert!(findings.matches && findings.problems.len() == 1, "{findings:?}");
}

proptest! {
    #[test]
    fn any_input_is_checked_and_no_secret_revealed(
        timestamp in ".{0,20}",
        signature in ".{0,100}",
        id in ".{0,30}",
        body in proptest::collection::vec(any::<u8>(), 0..200),
        which in 0_usize..3,
    ) {
        let scheme = [Scheme::Service, Scheme::ServiceNext, Scheme::Standard][which];
        let given = Evidence { scheme, timestamp, id, signature, body, sent: None };
        let findings = check(&rotating(), &given, NOW);
        prop_assert!(!findings.matches && !findings.problems.is_empty());
        let told = format!("{findings:?}");
        for secret in [secret(7), secret(8)] {
            prop_assert!(!told.contains(&secret.expose()[6..]));
        }
    }
}

//! Signatures computed by other implementations: Python's `hmac` and the authors of Standard Webhooks.

use webhook_signature::{VerifyError, sign, standard, verify};

const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const BODY: &str = "{\"event\":\"order.delivered\",\"note\":\"Café ☕\"}\n";
const SIGNED_AT: i64 = 1_750_000_000;

/// `hmac.new(SECRET.encode(), b"1750000000." + BODY, hashlib.sha256).hexdigest()`
const SERVICE: &str = "sha256=8a354d605645c45ca3c9c56a3fb771e8806cea53089729ba48a92b86f3bea65a";
/// `base64.b64encode(hmac.new(bytes(range(32)), b"evt_1.1750000000." + BODY, hashlib.sha256).digest())`
const STANDARD: &str = "v1,YIne1ZVy3/oWAo5hWRT2ToQJoYOU0Ns6w/9i2xzKSlg=";

#[test]
fn waybill_s_own_signature() {
    assert_eq!(sign(SECRET, SIGNED_AT, BODY.as_bytes()), SERVICE);
    assert_eq!(
        sign(SECRET, 0, b""),
        "sha256=d8aec949f571341d52ef7916304be7b655fd60c3d50fd303f7fb35660d886827"
    );
    assert_eq!(verify(SECRET, "1750000000", SERVICE, BODY.as_bytes(), SIGNED_AT + 300, 300), Ok(()));
}

#[test]
fn the_standard_webhooks_signature() {
    assert_eq!(standard::sign(SECRET, "evt_1", SIGNED_AT, BODY.as_bytes()).unwrap(), STANDARD);
    let checked = |list: &str| {
        standard::verify(SECRET, "evt_1", "1750000000", list, BODY.as_bytes(), SIGNED_AT - 300, 300)
    };
    assert_eq!(checked(STANDARD), Ok(()));
    let other = standard::sign(&SECRET.replace("AAEC", "AAED"), "evt_1", SIGNED_AT, BODY.as_bytes()).unwrap();
    assert_eq!(checked(&format!("{other} v1a,abc {STANDARD}")), Ok(()));
    assert_eq!(checked(&format!("v1a,abc {other}")), Err(VerifyError::Mismatch));
    assert_eq!(checked("v1a,abc"), Err(VerifyError::WrongLength));
    assert_eq!(checked(""), Err(VerifyError::WrongLength));
    assert_eq!(checked(&format!("{} {STANDARD}", ["v1,x"; 8].join(" "))), Err(VerifyError::WrongLength));
}

/// The example of the Standard Webhooks specification.
#[test]
fn the_example_of_standard_webhooks() {
    let signature = standard::sign(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1_614_265_330,
        br#"{"test": 2432232314}"#,
    );
    assert_eq!(signature.unwrap(), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

#[test]
fn each_refusal_has_its_own_error() {
    let body = BODY.as_bytes();
    let at = |now| verify(SECRET, "1750000000", SERVICE, body, now, 300);
    assert_eq!(at(SIGNED_AT + 301), Err(VerifyError::TooOld));
    assert_eq!(at(SIGNED_AT - 301), Err(VerifyError::TooNew));
    let with = |timestamp, signature| verify(SECRET, timestamp, signature, body, SIGNED_AT, 300);
    assert_eq!(with("yesterday", SERVICE), Err(VerifyError::MalformedTimestamp));
    assert_eq!(with("1750000000", &SERVICE[7..]), Err(VerifyError::WrongLength));
    assert_eq!(with("1750000000", ""), Err(VerifyError::WrongLength));
    assert_eq!(with("1750000001", SERVICE), Err(VerifyError::Mismatch));
    // The signature covers the timestamp as text, not as a number. Its hex digits are lower case.
    assert_eq!(with("01750000000", SERVICE), Err(VerifyError::Mismatch));
    assert_eq!(with("1750000000", &SERVICE.to_uppercase()), Err(VerifyError::Mismatch));
    let unusable =
        standard::verify("whsec_?", "evt_1", "1750000000", STANDARD, body, SIGNED_AT, 300).unwrap_err();
    assert!(matches!(unusable, VerifyError::MalformedSecret(_)));
}

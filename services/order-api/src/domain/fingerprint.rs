//! Hashes that tell whether two requests are the same. The body is hashed as canonical JSON: sorted keys, and no nulls,
//! so that `null` equals absent.

use domain::{Pincode, composed};
use serde::{Serialize, Serializer};
use serde_json::{Number, Value};
use sha2::{Digest, Sha256};

/// A float represents all whole numbers below this one.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Replaces the hash of an erased body, which could confirm a guess of its content. No body has this hash.
    pub const ERASED: Self = Self([0; 32]);

    #[expect(clippy::expect_used, reason = "every JSON value can be serialised to memory")]
    pub fn of(body: &Value) -> Self {
        let canonical = serde_json::to_vec(&Canonical(body)).expect("a JSON value");
        Self(Sha256::digest(canonical).into())
    }

    /// Ignores differences that do not change the order: surrounding white space, other forms of the same Unicode characters,
    /// spaces in a PIN code, and the default currency. [`Fingerprint::of`] never changes, because existing orders store it.
    pub fn of_meaning(mut body: Value) -> Self {
        normalize(&mut body);
        Self::of(&body)
    }

    /// A hash of both. It no longer matches once the `exact` fingerprint of the same body is replaced or erased.
    #[must_use]
    pub fn bound_to(self, exact: Self) -> Self {
        Self(Sha256::new().chain_update(exact.0).chain_update(self.0).finalize().into())
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

fn normalize(body: &mut Value) {
    compose(body);
    for pincode in ["/delivery/pincode", "/pickup/pincode"] {
        if let Some(Value::String(text)) = body.pointer_mut(pincode)
            && let Some(pincode) = Pincode::parse(text)
        {
            *text = pincode.into_string();
        }
    }
    if let Some(currency) = body.pointer_mut("/payment/currency").filter(|currency| *currency == "INR") {
        *currency = Value::Null;
    }
}

/// Trims and composes all texts.
fn compose(value: &mut Value) {
    match value {
        Value::String(text) => {
            let plain = composed(text.trim());
            if plain != *text {
                *text = plain.into_owned();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(compose),
        Value::Object(fields) => fields.values_mut().for_each(compose),
        _ => {}
    }
}

/// Serialised as canonical JSON.
struct Canonical<'a>(&'a Value);

impl Serialize for Canonical<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(object) => {
                let mut fields: Vec<_> = object.iter().filter(|(_, value)| !value.is_null()).collect();
                fields.sort_unstable_by_key(|(key, _)| *key);
                to.collect_map(fields.into_iter().map(|(key, value)| (key, Canonical(value))))
            }
            Value::Array(items) => to.collect_seq(items.iter().map(Canonical)),
            Value::Number(number) => match whole(number) {
                Some(whole) => to.serialize_i64(whole),
                None => number.serialize(to),
            },
            plain => plain.serialize(to),
        }
    }
}

/// The integer that a float equals: `2.0` is hashed as `2`.
fn whole(number: &Number) -> Option<i64> {
    let float = number.as_f64().filter(|_| number.is_f64())?;
    (float.fract() == 0.0 && float.abs() < WHOLE_MAX).then_some(float as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn null_equals_absent_and_the_order_of_keys_does_not_matter() {
        let one = serde_json::from_str(r#"{"b":[1,{"y":null,"x":"é"}],"a":null}"#).unwrap();
        let same = serde_json::from_str(r#"{"b":[1,{"x":"\u00e9"}]}"#).unwrap();
        assert_eq!(Fingerprint::of(&one), Fingerprint::of(&same));
    }

    #[test]
    fn equal_numbers_are_equal_in_any_notation() {
        let of = |text: &str| Fingerprint::of(&serde_json::from_str(text).unwrap());
        for (one, same) in [("2", "2.0"), ("-3", "-3.0"), ("0", "-0.0"), ("1.5", "1.50"), ("120", "1.2e2")] {
            assert_eq!(of(one), of(same), "{one} {same}");
        }
        assert_ne!(of("2"), of("2.5"));
        assert_ne!(of("10"), of("-10.0"));
    }

    #[test]
    fn notation_changes_the_body_and_not_its_meaning() {
        let body = |name: &str, pincode: &str, currency: Value| {
            json!({
                "customer": { "name": name }, "delivery": { "pincode": pincode },
                "payment": { "currency": currency, "deliveryFeePaise": 1 },
            })
        };
        let meaning = |body: &Value| Fingerprint::of_meaning(body.clone());
        let plain = body("Asha", "560038", Value::Null);
        for same in [
            body(" Asha\n", "560038", Value::Null),
            body("Asha", "560 038", Value::Null),
            body("Asha", " 560038", json!("INR")),
        ] {
            assert_ne!(Fingerprint::of(&plain), Fingerprint::of(&same), "{same}");
            assert_eq!(meaning(&plain), meaning(&same), "{same}");
        }
        let (composed, decomposed) = ("Caf\u{e9}", "Cafe\u{301}");
        let accented = |name| meaning(&body(name, "560038", Value::Null));
        assert_eq!(accented(composed), accented(decomposed));
        for other in [body("Asha", "560039", Value::Null), body("As ha", "560038", Value::Null)] {
            assert_ne!(meaning(&plain), meaning(&other), "{other}");
        }
    }

    /// The database holds hashes that other releases made.
    #[test]
    fn the_canonical_text_of_a_body_never_changes() {
        for (body, canonical) in [
            (r#"{"payment": {"currency": "INR", "note": null}}"#, r#"{"payment":{"currency":"INR"}}"#),
            (
                r#"{"é": 1, "a": 2, "😀": 3, "Z": 4, "": 5, "ab": 6}"#,
                r#"{"":5,"Z":4,"a":2,"ab":6,"é":1,"😀":3}"#,
            ),
            (r#"[null, {"a": {"b": null}}, [], {}]"#, r#"[null,{"a":{}},[],{}]"#),
            (r#"{"\"": "\u00e9\n\/\"\\ \u0001\u007f"}"#, "{\"\\\"\":\"é\\n/\\\"\\\\ \\u0001\u{7f}\"}"),
            ("[2.0, -0.0, -0.5, 1.2e2, 0.10, 5e-324]", "[2,0,-0.5,120,0.1,5e-324]"),
            ("[18446744073709551615, -9223372036854775808]", "[18446744073709551615,-9223372036854775808]"),
            ("[9007199254740991.0, 9007199254740992.0]", "[9007199254740991,9007199254740992.0]"),
            ("[1e16, 1e300, 18446744073709551616]", "[1e+16,1e+300,1.8446744073709552e+19]"),
            ("null", "null"),
        ] {
            let hash = Fingerprint::of(&serde_json::from_str(body).unwrap());
            assert_eq!(hash.as_bytes(), &Sha256::digest(canonical)[..], "{body}");
        }
    }

    #[test]
    fn any_other_difference_is_another_body() {
        let base = Fingerprint::of(&json!({"a": 1, "b": ["x", null]}));
        for other in [
            json!({"a": 2, "b": ["x", null]}),
            json!({"a": "1", "b": ["x", null]}),
            json!({"a": 1, "b": ["x"]}),
            json!({"a": 1, "b": [null, "x"]}),
            json!({"a": 1, "b": ["x", null], "c": false}),
        ] {
            assert_ne!(base, Fingerprint::of(&other), "{other}");
        }
    }
}

//! JSON without duplicate keys. `serde_json` would keep the last of two values, but Waybill must not guess which amount
//! the caller meant.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Replaces a number that is too large to parse. It is out of range for every field, so the field is reported.
const TOO_LARGE: &str = "1e308";

/// Parses JSON in which no object repeats a key.
///
/// # Errors
/// When the text is not JSON or repeats a key.
pub(crate) fn read(text: &str) -> Result<Value, serde_json::Error> {
    match serde_json::from_str::<Strict>(text) {
        Err(error) if is_out_of_range(&error) => serde_json::from_str::<Strict>(&with_readable_numbers(text)),
        outcome => outcome,
    }
    .map(|strict| strict.0)
}

/// `serde_json` has no error kind for this case.
fn is_out_of_range(error: &serde_json::Error) -> bool {
    error.to_string().starts_with("number out of range")
}

/// Replaces numbers that are too large (`1e400`, 400 digits) by [`TOO_LARGE`].
fn with_readable_numbers(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        written.push_str(&rest[..at]);
        rest = &rest[at..];
        let (token, after) = rest.split_at(token_length(rest));
        let is_number = !token.starts_with('"');
        match serde_json::from_str::<f64>(token) {
            Err(error) if is_number && is_out_of_range(&error) => {
                written.push_str(if token.starts_with('-') { "-" } else { "" });
                written.push_str(TOO_LARGE);
            }
            _ => written.push_str(token),
        }
        rest = after;
    }
    written + rest
}

/// The length of the string or number at the start of the text.
fn token_length(text: &str) -> usize {
    let is_of_number = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
    if !text.starts_with('"') {
        return text.bytes().position(|byte| !is_of_number(byte)).unwrap_or(text.len());
    }
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |end| end + 2)
}

/// A value without repeated keys.
pub(crate) struct Strict(pub(crate) Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number is out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, Strict(value))) = entries.next_entry::<String, Strict>()? {
            if object.contains_key(&key) {
                return Err(de::Error::custom(format!("the field \"{key}\" is given twice")));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn repeated_keys_are_refused_at_any_depth() {
        assert!(read(r#"{"a":1,"a":1}"#).unwrap_err().to_string().contains("\"a\" is given twice"));
        assert!(read(r#"[{"b":{"a":1,"c":2,"a":3}}]"#).is_err());
        assert_eq!(
            read(r#"{"a":{"a":1},"b":[{"a":1},{"a":1}]}"#).unwrap(),
            json!({"a":{"a":1},"b":[{"a":1},{"a":1}]})
        );
    }

    #[test]
    fn numbers_that_are_too_large_are_replaced() {
        let digits = "9".repeat(100_000);
        for (text, wanted) in [
            (r#"{"a":1e400,"b":[-1E+999]}"#.to_owned(), json!({ "a": 1e308, "b": [-1e308] })),
            (format!(r#"[{digits},"{digits}",0]"#), json!([1e308, digits, 0])),
            (r#"{"1e400":"\\\"1e400","é":-1e400}"#.to_owned(), json!({ "1e400": "\\\"1e400", "é": -1e308 })),
        ] {
            assert_eq!(read(&text).unwrap(), wanted);
        }
        for bad in ["[1e400", "[01e400]", "[1.e400]", "[1e400,\"]", "[+1e400]", r#"{"a":1e400,"a":1}"#] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_other_text_is_parsed_as_by_serde_json(text in r#"[\[\]{}",:a-c0-9.eE+ -]{0,24}"#) {
            match (read(&text), serde_json::from_str::<Value>(&text)) {
                (Ok(_), Err(error)) => prop_assert!(is_out_of_range(&error), "{text}"),
                (Ok(value), plain) => prop_assert_eq!(value, plain.unwrap()),
                (Err(_), _) => {}
            }
        }
    }
}

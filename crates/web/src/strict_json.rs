//! JSON without duplicate keys. `serde_json` would keep the last of two values, but Waybill must not guess which amount
//! the caller meant.

use std::cell::Cell;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// In one body: 500 items with 19 fields each. Reading many small values takes ten times as long as reading a few large ones,
/// and nothing else happens on this thread meanwhile.
const VALUES_MAX: usize = 10_000;
/// Replaces a number that is too large to parse. It is out of range for every field, so the field is reported.
const TOO_LARGE: &str = "1e308";
/// In one body; the next one is an error. Making an error takes longer than reading a number.
const TOO_LARGE_MAX: usize = 100;

/// Parses JSON in which no object repeats a key.
///
/// # Errors
/// When the text is not JSON, repeats a key or has more than 10,000 values.
pub(crate) fn read(text: &str) -> Result<Value, serde_json::Error> {
    match parse(text) {
        Err(error) if is_out_of_range(&error) => parse(&with_readable_numbers(text)),
        outcome => outcome,
    }
}

fn parse(text: &str) -> Result<Value, serde_json::Error> {
    let mut parser = serde_json::Deserializer::from_str(text);
    let value = Strict { left: &Cell::new(VALUES_MAX) }.deserialize(&mut parser)?;
    parser.end()?;
    Ok(value)
}

/// `serde_json` has no error kind for this case.
fn is_out_of_range(error: &serde_json::Error) -> bool {
    error.to_string().starts_with("number out of range")
}

/// Replaces numbers that are too large (`1e400`, 400 digits) by [`TOO_LARGE`].
fn with_readable_numbers(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let (mut rest, mut errors) = (text, 0);
    while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        written.push_str(&rest[..at]);
        rest = &rest[at..];
        let (token, after) = rest.split_at(token_length(rest));
        let is_read = !token.starts_with('"') && errors < TOO_LARGE_MAX;
        let error = is_read.then(|| serde_json::from_str::<f64>(token).err()).flatten();
        errors += usize::from(error.is_some());
        if error.is_some_and(|error| is_out_of_range(&error)) {
            written.push_str(if token.starts_with('-') { "-" } else { "" });
            written.push_str(TOO_LARGE);
        } else {
            written.push_str(token);
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

/// Reads a value without repeated keys.
#[derive(Clone, Copy)]
struct Strict<'a> {
    /// How many values may follow.
    left: &'a Cell<usize>,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let left = self.left.get().checked_sub(1);
        self.left
            .set(left.ok_or_else(|| de::Error::custom(format!("it has more than {VALUES_MAX} values")))?);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
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
        while let Some(item) = items.next_element_seed(self)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(self)?;
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
        let many = |count: usize| format!("[{}]", vec!["1e400"; count].join(","));
        assert!(read(&many(TOO_LARGE_MAX)).is_ok() && read(&many(TOO_LARGE_MAX + 1)).is_err());
        for bad in ["[1e400", "[01e400]", "[1.e400]", "[1e400,\"]", "[+1e400]", r#"{"a":1e400,"a":1}"#] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_body_has_at_most_ten_thousand_values() {
        for (value, count) in [("0", VALUES_MAX - 1), ("{\"a\":0}", (VALUES_MAX - 1) / 2)] {
            let array = |count: usize| format!("[{}]", vec![value; count].join(","));
            assert!(read(&array(count)).is_ok());
            assert!(read(&array(count + 1)).unwrap_err().to_string().contains("more than 10000 values"));
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

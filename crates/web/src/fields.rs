//! Reads a JSON object field by field. Each reader adds an error and returns `None` when its field is invalid, so that
//! one pass finds every error. A field that is `null` counts as absent (SPECIFICATION §2.1).

use std::str::FromStr;
use std::sync::OnceLock;

use domain::{Email, Phone, Pincode, looks_empty};
use serde_json::{Map, Value};

use crate::{FieldErrors, TextRule};

/// Longer than the digits of E.164, because separators are accepted.
pub const PHONE_TEXT: TextRule = TextRule::line(40);
/// Longer than the six digits, because separators are accepted.
pub const PINCODE_TEXT: TextRule = TextRule::line(20);

/// 2^63, the first number beyond `i64`.
const BEYOND_INTEGERS: f64 = 9_223_372_036_854_775_808.0;

/// Replaces a missing object.
static EMPTY: OnceLock<Map<String, Value>> = OnceLock::new();

/// An object within a request, with its path.
#[derive(Clone)]
pub struct Fields<'a> {
    path: String,
    object: &'a Map<String, Value>,
    field_errors: &'a FieldErrors,
}

impl<'a> Fields<'a> {
    /// The body itself, which must be an object.
    pub fn of_body(body: &'a Value, field_errors: &'a FieldErrors) -> Option<Self> {
        match body.as_object() {
            Some(object) => Some(Self { path: String::new(), object, field_errors }),
            None => {
                field_errors.add("", "invalid_type", "The body must be a JSON object.");
                None
            }
        }
    }

    /// As [`Fields::of_body`], and refuses fields that are none of `known`: a misspelt one must not be lost silently.
    pub fn only(body: &'a Value, field_errors: &'a FieldErrors, known: &[&str]) -> Option<Self> {
        let fields = Self::of_body(body, field_errors)?;
        fields.refuse_unknown(known);
        Some(fields)
    }

    /// The dotted path of a field, for errors that callers find themselves.
    pub fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// Adds an error about a field.
    pub fn reject(&self, name: &str, code: &'static str, message: impl Into<String>) {
        self.field_errors.add(self.path_of(name), code, message);
    }

    /// The raw value, unless absent.
    pub fn value(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    /// Fields that are none of `known`, by path.
    pub fn unknown(&self, known: &[&str]) -> Vec<String> {
        self.object
            .keys()
            .filter(|name| !known.contains(&name.as_str()))
            .map(|name| self.path_of(name))
            .collect()
    }

    /// Adds an error for each field that is none of `known`.
    pub fn refuse_unknown(&self, known: &[&str]) {
        for path in self.unknown(known) {
            self.field_errors.add(&path, "unknown_field", format!("{path} is not a field of this call."));
        }
    }

    /// Notes that a field is missing; always `None`.
    pub fn missing<T>(&self, name: &str) -> Option<T> {
        self.reject(name, "required", format!("{} is required.", self.path_of(name)));
        None
    }

    fn wrong_type<T>(&self, name: &str, wanted: &str) -> Option<T> {
        self.reject(name, "invalid_type", format!("{} must be {wanted}.", self.path_of(name)));
        None
    }

    pub fn required_text(&self, name: &str, rule: TextRule) -> Option<String> {
        match self.value(name) {
            None => self.missing(name),
            Some(Value::String(text)) if looks_empty(text) => self.missing(name),
            Some(_) => self.optional_text(name, rule),
        }
    }

    /// An empty text counts as absent.
    pub fn optional_text(&self, name: &str, rule: TextRule) -> Option<String> {
        let Value::String(text) = self.value(name)? else { return self.wrong_type(name, "a string") };
        match rule.check(text) {
            Ok(text) => text.map(str::to_owned),
            Err(error) => {
                self.reject(name, error.code, format!("{} {}", self.path_of(name), error.message));
                None
            }
        }
    }

    /// A whole number within `min..=max`; `100.0`, `1e2` and `"100"` are none.
    pub fn optional_integer(&self, name: &str, min: i64, max: i64) -> Option<i64> {
        let value = self.value(name)?;
        let Value::Number(number) = value else {
            let is_quoted = value.as_str().is_some_and(|text| text.trim().parse::<i64>().is_ok());
            let wanted = if is_quoted { "a whole number, without quotes" } else { "a whole number" };
            return self.wrong_type(name, wanted);
        };
        // The JSON parser reads an integer with too many digits as a float.
        let is_beyond_integers = number.as_f64().is_some_and(|number| number.abs() >= BEYOND_INTEGERS);
        if number.is_f64() && !is_beyond_integers {
            return self.wrong_type(name, "a whole number, written without a point or exponent");
        }
        match number.as_i64().filter(|integer| (min..=max).contains(integer)) {
            Some(integer) => Some(integer),
            None => {
                let message = format!("{} must be between {min} and {max}.", self.path_of(name));
                self.reject(name, "out_of_range", message);
                None
            }
        }
    }

    pub fn required_integer(&self, name: &str, min: i64, max: i64) -> Option<i64> {
        match self.value(name) {
            None => self.missing(name),
            Some(_) => self.optional_integer(name, min, max),
        }
    }

    pub fn optional_number(&self, name: &str, min: f64, max: f64) -> Option<f64> {
        let Value::Number(number) = self.value(name)? else { return self.wrong_type(name, "a number") };
        match number.as_f64().filter(|number| (min..=max).contains(number)) {
            Some(number) => Some(number),
            None => {
                let message = format!("{} must be between {min} and {max}.", self.path_of(name));
                self.reject(name, "out_of_range", message);
                None
            }
        }
    }

    pub fn optional_boolean(&self, name: &str) -> Option<bool> {
        match self.value(name)? {
            Value::Bool(value) => Some(*value),
            _ => self.wrong_type(name, "true or false"),
        }
    }

    /// A value of a closed set. `allowed` lists the set for the error message.
    pub fn optional_word<T: FromStr>(&self, name: &str, allowed: &str) -> Option<T> {
        let Value::String(text) = self.value(name)? else { return self.wrong_type(name, "a string") };
        match text.parse() {
            Ok(word) => Some(word),
            Err(_) => {
                self.reject(name, "invalid_value", format!("{} must be {allowed}.", self.path_of(name)));
                None
            }
        }
    }

    pub fn required_word<T: FromStr>(&self, name: &str, allowed: &str) -> Option<T> {
        match self.value(name) {
            None => self.missing(name),
            Some(_) => self.optional_word(name, allowed),
        }
    }

    /// A phone number with country code, in its E.164 form.
    pub fn optional_phone(&self, name: &str) -> Option<String> {
        let given = self.optional_text(name, PHONE_TEXT)?;
        let phone = Phone::parse(&given).map(Phone::into_string);
        if phone.is_none() {
            let path = self.path_of(name);
            let message = match Phone::guess_indian(&given) {
                Some(guess) => format!(
                    "{path} must be a phone number with country code. If the number is Indian, send {}.",
                    guess.as_str()
                ),
                None => {
                    format!("{path} must be a valid phone number with country code, such as +919812345678.")
                }
            };
            self.reject(name, "invalid_format", message);
        }
        phone
    }

    pub fn required_phone(&self, name: &str) -> Option<String> {
        // An empty text counts as absent here too, and causes only one error.
        self.required_text(name, PHONE_TEXT).and_then(|_| self.optional_phone(name))
    }

    /// An Indian PIN code, as its six digits.
    pub fn optional_pincode(&self, name: &str) -> Option<String> {
        let given = self.optional_text(name, PINCODE_TEXT)?;
        let pincode = Pincode::parse(&given).map(Pincode::into_string);
        if pincode.is_none() {
            let message = format!("{} must be a six-digit PIN code, such as 560001.", self.path_of(name));
            self.reject(name, "invalid_format", message);
        }
        pincode
    }

    pub fn required_pincode(&self, name: &str) -> Option<String> {
        match self.value(name) {
            None => self.missing(name),
            Some(Value::String(text)) if looks_empty(text) => self.missing(name),
            Some(_) => self.optional_pincode(name),
        }
    }

    pub fn optional_email(&self, name: &str) -> Option<String> {
        let given = self.optional_text(name, TextRule::line(Email::MAX))?;
        if Email::parse(&given).is_none() {
            let message = format!("{} must be an e-mail address.", self.path_of(name));
            self.reject(name, "invalid_format", message);
            return None;
        }
        Some(given)
    }

    pub fn optional_object(&self, name: &str) -> Option<Fields<'a>> {
        match self.value(name)? {
            Value::Object(object) => {
                Some(Fields { path: self.path_of(name), object, field_errors: self.field_errors })
            }
            _ => self.wrong_type(name, "an object"),
        }
    }

    /// Reads a missing object as empty, so that its required fields are reported too.
    pub fn required_object(&self, name: &str) -> Option<Fields<'a>> {
        match self.value(name) {
            None => {
                let _missing: Option<()> = self.missing(name);
                Some(Fields {
                    path: self.path_of(name),
                    object: EMPTY.get_or_init(Map::new),
                    field_errors: self.field_errors,
                })
            }
            Some(_) => self.optional_object(name),
        }
    }

    /// The objects of an array of at most `max`.
    pub fn optional_objects(&self, name: &str, max: usize) -> Option<Vec<Fields<'a>>> {
        let items = self.optional_array(name, max)?;
        let mut objects = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let path = format!("{}[{index}]", self.path_of(name));
            match item {
                Value::Object(object) => {
                    objects.push(Fields { path, object, field_errors: self.field_errors })
                }
                _ => self.field_errors.add(&path, "invalid_type", format!("{path} must be an object.")),
            }
        }
        Some(objects)
    }

    /// An array of at most `max` values of a closed set. `allowed` lists the set for the error message.
    pub fn optional_words<T: FromStr>(&self, name: &str, max: usize, allowed: &str) -> Option<Vec<T>> {
        let items = self.optional_array(name, max)?;
        let mut words = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let path = format!("{}[{index}]", self.path_of(name));
            match item.as_str().map(str::parse) {
                Some(Ok(word)) => words.push(word),
                Some(Err(_)) => {
                    self.field_errors.add(&path, "invalid_value", format!("{path} must be {allowed}."))
                }
                None => self.field_errors.add(&path, "invalid_type", format!("{path} must be a string.")),
            }
        }
        Some(words)
    }

    fn optional_array(&self, name: &str, max: usize) -> Option<&'a [Value]> {
        let Value::Array(items) = self.value(name)? else { return self.wrong_type(name, "an array") };
        if items.len() > max {
            let message = format!("{} must have at most {max} entries.", self.path_of(name));
            self.reject(name, "too_long", message);
            return None;
        }
        Some(items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn errors_of(body: Value, read: impl Fn(&Fields<'_>)) -> Vec<(String, &'static str)> {
        let field_errors = FieldErrors::default();
        if let Some(fields) = Fields::of_body(&body, &field_errors) {
            read(&fields);
        }
        field_errors.into_vec().into_iter().map(|error| (error.field, error.code)).collect()
    }

    #[test]
    fn only_whole_numbers_are_integers() {
        for bad in [json!(100.0), json!(1e3), json!("100"), json!(true), json!([1])] {
            let found =
                errors_of(json!({"fee": bad}), |f| assert_eq!(f.required_integer("fee", 1, 10_000), None));
            assert_eq!(found, [("fee".to_owned(), "invalid_type")], "{bad}");
        }
        let digits = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let (many, few) = (digits(&format!("1{}", "0".repeat(30))), digits(&format!("-1{}", "0".repeat(30))));
        for bad in [json!(0), json!(10_001), json!(u64::MAX), many, few] {
            let found =
                errors_of(json!({"fee": bad}), |f| assert_eq!(f.required_integer("fee", 1, 10_000), None));
            assert_eq!(found, [("fee".to_owned(), "out_of_range")], "{bad}");
        }
        for absent in [json!({}), json!({"fee": null})] {
            let found = errors_of(absent, |f| assert_eq!(f.required_integer("fee", 1, 10), None));
            assert_eq!(found, [("fee".to_owned(), "required")]);
        }
    }

    #[test]
    fn texts_are_trimmed_and_bounded_in_characters() {
        let field_errors = FieldErrors::default();
        let body = json!({"a": "  नमस्ते  ", "b": "x\u{0}y", "c": "toolong", "d": "   ", "e": "l1\nl2"});
        let fields = Fields::of_body(&body, &field_errors).unwrap();
        assert_eq!(fields.required_text("a", TextRule::line(10)).as_deref(), Some("नमस्ते"));
        assert_eq!(
            TextRule::line(9).check("  नमस्ते  ").map_err(|error| error.code),
            Err("too_long"),
            "as it was sent"
        );
        assert_eq!(TextRule::line(2).check("   ").map_err(|error| error.code), Err("too_long"));
        assert_eq!(fields.required_text("e", TextRule::lines(6)).as_deref(), Some("l1\nl2"));
        assert!(field_errors.is_empty());
        assert_eq!(fields.required_text("b", TextRule::lines(6)), None);
        assert_eq!(fields.required_text("c", TextRule::line(6)), None);
        assert_eq!(fields.required_text("d", TextRule::line(6)), None);
        assert_eq!(fields.required_text("e", TextRule::line(6)), None);
        let codes: Vec<_> = field_errors.into_vec().into_iter().map(|error| error.code).collect();
        assert_eq!(codes, ["invalid_format", "too_long", "required", "invalid_format"]);
    }

    #[test]
    fn invisible_characters_are_allowed_in_text_but_not_in_codes() {
        let zwj = "क्\u{200D}ष, शान्\u{200C}ति";
        for (text, line, lines, code) in [
            ("\u{3000} A-1\u{A0}", Ok("A-1"), Ok("A-1"), Ok("A-1")),
            (zwj, Ok(zwj), Ok(zwj), Err("invalid_format")),
            ("A\u{200B}1", Ok("A\u{200B}1"), Ok("A\u{200B}1"), Err("invalid_format")),
            ("A\u{202E}1", Ok("A\u{202E}1"), Ok("A\u{202E}1"), Err("invalid_format")),
            ("\u{FEFF}A1", Ok("\u{FEFF}A1"), Ok("\u{FEFF}A1"), Err("invalid_format")),
            ("A\n\t1", Err("invalid_format"), Ok("A\n\t1"), Err("invalid_format")),
            ("A\u{85}1", Err("invalid_format"), Err("invalid_format"), Err("invalid_format")),
            ("A\u{7F}1", Err("invalid_format"), Err("invalid_format"), Err("invalid_format")),
            ("A\0", Err("invalid_format"), Err("invalid_format"), Err("invalid_format")),
        ] {
            for (rule, expected) in
                [(TextRule::line(99), line), (TextRule::lines(99), lines), (TextRule::code(99), code)]
            {
                let found = rule.check(text).map_err(|error| error.code);
                assert_eq!(found, expected.map(Some), "{text:?} {rule:?}");
            }
        }
        for nothing in ["", " ", "\u{200B}", "\u{FEFF} \u{200D}"] {
            assert_eq!(TextRule::code(99).check(nothing), Ok(None), "{nothing:?}");
            let found = errors_of(json!({ "a": nothing }), |f| {
                assert_eq!(f.required_text("a", TextRule::line(9)), None)
            });
            assert_eq!(found, [("a".to_owned(), "required")]);
        }
    }

    #[test]
    fn unknown_fields_are_named() {
        let (body, field_errors) =
            (json!({ "name": "a", "nmae": "b", "Name": null }), FieldErrors::default());
        assert!(Fields::only(&body, &field_errors, &["name", "role"]).is_some());
        let mut found: Vec<_> = field_errors.into_vec().into_iter().map(|e| (e.field, e.code)).collect();
        found.sort_unstable();
        let unknown = |name: &str| (name.to_owned(), "unknown_field");
        assert_eq!(found, [unknown("Name"), unknown("nmae")]);
        assert!(Fields::only(&json!([]), &FieldErrors::default(), &[]).is_none());
    }

    #[test]
    fn errors_name_the_path() {
        let body = json!({"package": {"items": [{"quantity": 1}, {"quantity": "2"}, 3]}});
        let found = errors_of(body, |fields| {
            let package = fields.required_object("package").unwrap();
            for item in package.optional_objects("items", 500).unwrap() {
                item.required_integer("quantity", 1, 100);
            }
        });
        assert_eq!(
            found,
            [
                ("package.items[2]".to_owned(), "invalid_type"),
                ("package.items[1].quantity".to_owned(), "invalid_type")
            ]
        );
    }
}

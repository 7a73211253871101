//! The words of JSON Schema (draft 2020-12) that the document is written in, made from the rules that requests are read
//! by, so that the two cannot differ.

use std::sync::LazyLock;

use domain::{Paise, is_invisible};
use web::TextRule;

use super::ordered::{Json, object};

/// Characters that texts are told apart by, as the inside of a class of a regular expression.
struct Classes {
    /// What `str::trim` takes away at both ends.
    space: String,
    /// What shows nothing.
    invisible: String,
}

static CLASSES: LazyLock<Classes> =
    LazyLock::new(|| Classes { space: class(char::is_whitespace), invisible: class(is_invisible) });

/// Control characters, which may stand nowhere in a line.
const CONTROL: &str = r"\u0000-\u001f\u007f-\u009f";
/// The same without tab, line feed and carriage return.
const CONTROL_BUT_LINES: &str = r"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f";

/// The ranges of the characters that are meant, of the basic plane: beyond it the dialects of regular expressions have no
/// escape in common, and JavaScript's takes no range there without its flag `u`. The parser refuses more than this says.
fn class(is_meant: impl Fn(char) -> bool) -> String {
    let mut ranges: Vec<(char, char)> = Vec::new();
    for c in ('\0'..='\u{ffff}').filter(|c| is_meant(*c)) {
        match ranges.last_mut() {
            Some((_, end)) if u32::from(*end) + 1 == u32::from(c) => *end = c,
            _ => ranges.push((c, c)),
        }
    }
    ranges.into_iter().map(|(begin, end)| format!("{}-{}", escaped(begin), escaped(end))).collect()
}

fn escaped(c: char) -> String {
    format!("\\u{:04x}", u32::from(c))
}

/// What a rule lets stand nowhere within a text, once it is trimmed.
fn refused(rule: TextRule) -> String {
    let control = if rule.lines { CONTROL_BUT_LINES } else { CONTROL };
    let invisible = if rule.code { CLASSES.invisible.as_str() } else { "" };
    format!("{control}{invisible}")
}

/// ULIDs in their canonical spelling.
const ULID: &str = "[0-7][0-9A-HJKMNP-TV-Z]{25}";

/// A text that must be there, and hold more than spaces.
pub(in crate::routes) fn text(rule: TextRule, description: &str) -> Json {
    let Classes { space, invisible } = &*CLASSES;
    let refused = refused(rule);
    object! {
        "type": "string",
        "description": description,
        "minLength": 1,
        "maxLength": rule.max,
        "pattern": format!("^[{space}]*[^{refused}]*[^{refused}{space}{invisible}][^{refused}]*[{space}]*$"),
    }
}

/// A text that may be null or empty, both of which mean that there is none.
pub(in crate::routes) fn optional_text(rule: TextRule, description: &str) -> Json {
    let Classes { space, invisible } = &*CLASSES;
    let refused = refused(rule);
    object! {
        "type": ["string", "null"],
        "description": description,
        "maxLength": rule.max,
        "pattern": format!("^([{space}]*[^{refused}]*[{space}]*|[{space}{invisible}]*)$"),
    }
}

/// As the parser takes it: white space around it, and spaces within, are ignored.
pub(in crate::routes) fn pincode_pattern() -> String {
    let space = &CLASSES.space;
    format!("^[{space}]*[1-9]([ \\u00a0]*[0-9]){{5}}[{space}]*$")
}

/// A text of a form of its own, or none: null, empty, or nothing to see.
pub(in crate::routes) fn optional_form(form: Json, max: usize, description: &str) -> Json {
    let Classes { space, invisible } = &*CLASSES;
    object! {
        "type": ["string", "null"],
        "description": description,
        "maxLength": max,
        "anyOf": [form, object! { "pattern": format!("^[{space}{invisible}]*$") }],
    }
}

pub(in crate::routes) fn integer(min: i64, max: i64, description: &str) -> Json {
    object! {
        "type": "integer", "format": "int64", "description": description, "minimum": min, "maximum": max,
    }
}

pub(in crate::routes) fn optional_integer(min: i64, max: i64, description: &str) -> Json {
    object! {
        "type": ["integer", "null"], "format": "int64", "description": description, "minimum": min, "maximum": max,
    }
}

pub(in crate::routes) fn optional_number(min: f64, max: f64, description: &str) -> Json {
    object! { "type": ["number", "null"], "description": description, "minimum": min, "maximum": max }
}

/// An amount of an answer.
pub(in crate::routes) fn paise(description: &str) -> Json {
    object! { "type": "integer", "format": "int64", "description": description }
}

/// An amount of a request.
pub(in crate::routes) fn optional_paise(description: &str) -> Json {
    optional_integer(0, Paise::REQUEST_MAX.get(), description)
}

pub(in crate::routes) fn boolean(description: &str) -> Json {
    object! { "type": "boolean", "description": description }
}

/// A plain text of an answer.
pub(in crate::routes) fn string(description: &str) -> Json {
    object! { "type": "string", "description": description }
}

pub(in crate::routes) fn time(description: &str) -> Json {
    object! { "type": "string", "format": "date-time", "description": description }
}

/// An id that begins with its kind's prefix.
pub(in crate::routes) fn id(prefix: &str, description: &str) -> Json {
    object! { "type": "string", "description": description, "pattern": format!("^{prefix}{ULID}$") }
}

/// One of these words, or one that is added later, which generated clients must not refuse.
pub(in crate::routes) fn open_words<'a>(words: impl IntoIterator<Item = &'a str>, description: &str) -> Json {
    let words: Vec<&str> = words.into_iter().collect();
    let known = object! { "type": "string", "enum": words };
    object! { "description": description, "anyOf": [known, object! { "type": "string" }] }
}

/// One of a closed set of words.
pub(in crate::routes) fn words<'a>(words: impl IntoIterator<Item = &'a str>, description: &str) -> Json {
    let words: Vec<&str> = words.into_iter().collect();
    object! { "type": "string", "description": description, "enum": words }
}

pub(in crate::routes) fn reference(name: &str) -> Json {
    object! { "$ref": format!("#/components/schemas/{name}") }
}

pub(in crate::routes) fn list(of: Json, description: &str) -> Json {
    object! { "type": "array", "description": description, "items": of }
}

/// Or null.
pub(in crate::routes) fn nullable(schema: Json) -> Json {
    match schema {
        Json::Object(mut fields) if fields.iter().any(|(name, _)| name == "type") => {
            for (name, value) in &mut fields {
                match (name.as_str(), value) {
                    ("type", value) => *value = Json::Array(vec![value.clone(), "null".into()]),
                    ("enum", Json::Array(words)) => words.push(Json::Null),
                    _ => {}
                }
            }
            Json::Object(fields)
        }
        other => object! { "anyOf": [other, object! { "type": "null" }] },
    }
}

/// An object of an answer, all of whose fields are always there.
pub(in crate::routes) fn record<'a>(
    description: &str,
    fields: impl IntoIterator<Item = (&'a str, Json)>,
) -> Json {
    let fields: Vec<_> = fields.into_iter().collect();
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    with_required(description, &names, fields)
}

/// An object, some of whose fields must be there. It may have more fields than are named.
pub(in crate::routes) fn with_required<'a>(
    description: &str,
    required: &[&str],
    fields: impl IntoIterator<Item = (&'a str, Json)>,
) -> Json {
    let properties = Json::object(fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)));
    let schema = object! { "type": "object", "description": description };
    let schema = if required.is_empty() { schema } else { schema.with("required", required.to_vec()) };
    schema.with("properties", properties)
}

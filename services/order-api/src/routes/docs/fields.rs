//! Tables of schemas: one row per field, with the dotted path that errors use.

use super::page::markdown_line;
use crate::routes::openapi::ordered::Json;

/// Deeper than all schemas. Ends the recursion of a schema that contains itself.
const DEPTH_MAX: usize = 6;

/// Beyond this number of forms, each form shows only the fields that the previous ones lack.
const FORMS_IN_FULL: usize = 3;

/// One field of a body.
#[derive(PartialEq)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) required: bool,
    /// HTML.
    pub(super) description: String,
    /// Bounds and allowed words.
    pub(super) bounds: String,
    /// A heading within the table: the next rows are one of several forms.
    pub(super) is_form: bool,
}

/// Follows a `$ref`.
pub(super) fn resolve<'a>(document: &'a Json, schema: &'a Json) -> &'a Json {
    let Some(path) = schema.get("$ref").and_then(Json::as_str) else { return schema };
    let mut found = document;
    for part in path.trim_start_matches("#/").split('/') {
        match found.get(part) {
            Some(next) => found = next,
            None => return schema,
        }
    }
    found
}

pub(super) fn rows(document: &Json, schema: &Json) -> Vec<Row> {
    let mut rows = Vec::new();
    add_fields(document, schema, "", 0, &mut rows);
    rows
}

fn add_fields(document: &Json, schema: &Json, path: &str, depth: usize, rows: &mut Vec<Row>) {
    let schema = not_null(document, resolve(document, schema));
    if depth > DEPTH_MAX {
        return;
    }
    let required: Vec<&str> =
        schema.get("required").map(Json::items).unwrap_or_default().iter().filter_map(Json::as_str).collect();
    for (name, field) in schema.get("properties").into_iter().flat_map(Json::fields) {
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        rows.push(row(document, &path, field, required.contains(&name)));
        add_fields(document, field, &path, depth + 1, rows);
    }
    if let Some(items) = schema.get("items") {
        add_fields(document, items, &format!("{path}[]"), depth + 1, rows);
    }
    let forms = schema.get("oneOf").map(Json::items).unwrap_or_default();
    let first = rows.len();
    for form in forms {
        let form = resolve(document, form);
        rows.push(Row {
            name: path.to_owned(),
            kind: String::new(),
            required: false,
            description: described(form),
            bounds: String::new(),
            is_form: true,
        });
        let own = rows.len();
        add_fields(document, form, path, depth + 1, rows);
        if forms.len() > FORMS_IN_FULL {
            let added = rows.split_off(own);
            let new: Vec<Row> = added.into_iter().filter(|row| !rows[first..].contains(row)).collect();
            rows.extend(new);
        }
    }
}

/// The non-null form of a nullable schema.
fn not_null<'a>(document: &'a Json, schema: &'a Json) -> &'a Json {
    let forms = schema.get("oneOf").map(Json::items).unwrap_or_default();
    match forms {
        [form, null] if null.get("type").and_then(Json::as_str) == Some("null") => resolve(document, form),
        _ => schema,
    }
}

fn row(document: &Json, path: &str, field: &Json, required: bool) -> Row {
    let resolved = not_null(document, resolve(document, field));
    Row {
        name: path.to_owned(),
        kind: kind(document, field),
        required,
        description: own_description(field).unwrap_or_else(|| described(resolved)),
        bounds: bounds(resolved),
        is_form: false,
    }
}

fn described(schema: &Json) -> String {
    schema.get("description").and_then(Json::as_str).map(markdown_line).unwrap_or_default()
}

/// What the field says of itself, next to its reference to a schema.
fn own_description(field: &Json) -> Option<String> {
    let forms = field.get("oneOf").map(Json::items).unwrap_or_default();
    let own = std::iter::once(field).chain(forms.first()).find_map(|one| one.get("description"));
    own.and_then(Json::as_str).map(markdown_line)
}

/// The type, in a word or two.
pub(super) fn kind(document: &Json, schema: &Json) -> String {
    let whole = resolve(document, schema);
    let resolved = not_null(document, whole);
    let named: Vec<&str> = match resolved.get("type") {
        Some(Json::Text(one)) => vec![one],
        Some(many) => many.items().iter().filter_map(Json::as_str).collect(),
        None if resolved.get("oneOf").is_some() => vec!["object"],
        None if resolved.get("anyOf").is_some() => vec!["string"],
        None => Vec::new(),
    };
    let is_nullable = named.contains(&"null") || !std::ptr::eq(whole, resolved);
    let plain: Vec<&str> = named.into_iter().filter(|name| *name != "null").collect();
    let format = resolved.get("format").and_then(Json::as_str).filter(|format| *format != "int64");
    let mut text = match (plain.as_slice(), format) {
        (["array"], _) => "list".to_owned(),
        (["string"], Some(format)) => format.to_owned(),
        (plain, _) => plain.join(" or "),
    };
    if is_nullable {
        text.push_str(" or null");
    }
    text
}

/// The known words of a set that may grow.
fn open_words(schema: &Json) -> Option<&Json> {
    schema.get("anyOf").map(Json::items).and_then(<[_]>::first).and_then(|known| known.get("enum"))
}

/// The allowed values in few words, without patterns.
pub(super) fn bounds(schema: &Json) -> String {
    let mut parts: Vec<String> = Vec::new();
    if let Some(words) = schema.get("enum").or_else(|| open_words(schema)) {
        let words = words.items().iter().filter(|word| **word != Json::Null);
        parts.push(
            words
                .map(|word| format!("`{}`", word.as_str().map_or_else(|| word.to_string(), str::to_owned)))
                .collect::<Vec<_>>()
                .join(" "),
        );
    }
    if open_words(schema).is_some() {
        parts.push("more may be added".to_owned());
    }
    match (schema.get("minimum"), schema.get("maximum")) {
        (Some(min), Some(max)) => parts.push(format!("{min} to {max}")),
        (Some(min), None) => parts.push(format!("at least {min}")),
        (None, Some(max)) => parts.push(format!("at most {max}")),
        (None, None) => {}
    }
    if let Some(max) = schema.get("maxLength") {
        parts.push(format!("at most {max} characters"));
    }
    if let Some(max) = schema.get("maxItems") {
        parts.push(format!("at most {max} entries"));
    }
    if let Some(default) = schema.get("default") {
        parts.push(format!("{default} when left out"));
    }
    markdown_line(&parts.join("; "))
}

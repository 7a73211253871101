//! Schemas that are computed from the rules that requests are read by, so that the two cannot differ.

use std::sync::LazyLock;

use domain::is_invisible;
use utoipa::openapi::schema::{AnyOfBuilder, ObjectBuilder, SchemaType, Type};
use web::TextRule;

/// Types that exist in the document only: each names a computed schema.
macro_rules! schemas {
    ($($name:ident = $schema:expr;)*) => {
        $(
            pub(in crate::routes::openapi) struct $name;

            impl utoipa::PartialSchema for $name {
                fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                    $schema.into()
                }
            }

            impl utoipa::ToSchema for $name {
                fn name() -> std::borrow::Cow<'static, str> {
                    stringify!($name).into()
                }
            }
        )*
    };
}
pub(super) use schemas;

/// Character classes for patterns, each as the inside of a class of a regular expression.
struct Classes {
    /// The characters that `str::trim` removes.
    space: String,
    /// The characters that show nothing.
    invisible: String,
}

static CLASSES: LazyLock<Classes> =
    LazyLock::new(|| Classes { space: class(char::is_whitespace), invisible: class(is_invisible) });

/// Control characters, which a line must not contain.
const CONTROL: &str = r"\u0000-\u001f\u007f-\u009f";
/// The same without tab, line feed and carriage return.
const CONTROL_BUT_LINES: &str = r"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f";

/// The ranges of these characters within the basic plane: the dialects of regular expressions have no common escape for
/// characters beyond it. The parser therefore refuses more than the pattern.
fn class(is_meant: impl Fn(char) -> bool) -> String {
    let mut ranges: Vec<(char, char)> = Vec::new();
    for c in ('\0'..='\u{ffff}').filter(|c| is_meant(*c)) {
        match ranges.last_mut() {
            Some((_, end)) if u32::from(*end) + 1 == u32::from(c) => *end = c,
            _ => ranges.push((c, c)),
        }
    }
    let escaped = |c: char| format!("\\u{:04x}", u32::from(c));
    ranges.into_iter().map(|(begin, end)| format!("{}-{}", escaped(begin), escaped(end))).collect()
}

/// The characters that a rule refuses within a trimmed text.
fn refused(rule: TextRule) -> String {
    let control = if rule.lines { CONTROL_BUT_LINES } else { CONTROL };
    let invisible = if rule.code { CLASSES.invisible.as_str() } else { "" };
    format!("{control}{invisible}")
}

pub(super) fn string() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// A text that must hold more than spaces.
pub(super) fn text(rule: TextRule) -> ObjectBuilder {
    let Classes { space, invisible } = &*CLASSES;
    let refused = refused(rule);
    let pattern = format!("^[{space}]*[^{refused}]*[^{refused}{space}{invisible}][^{refused}]*[{space}]*$");
    string().min_length(Some(1)).max_length(Some(rule.max)).pattern(Some(pattern))
}

/// A text that may be empty, which means that there is none.
pub(super) fn optional_text(rule: TextRule) -> ObjectBuilder {
    let Classes { space, invisible } = &*CLASSES;
    let refused = refused(rule);
    let pattern = format!("^([{space}]*[^{refused}]*[{space}]*|[{space}{invisible}]*)$");
    string().max_length(Some(rule.max)).pattern(Some(pattern))
}

/// Six digits; the parser ignores white space around them, and spaces between them.
pub(super) fn pincode() -> ObjectBuilder {
    let space = &CLASSES.space;
    string().pattern(Some(format!("^[{space}]*[1-9]([ \\u00a0]*[0-9]){{5}}[{space}]*$")))
}

/// A text of this form, or one that shows nothing.
pub(super) fn optional_form(form: ObjectBuilder, max: usize) -> AnyOfBuilder {
    let Classes { space, invisible } = &*CLASSES;
    let empty = string().pattern(Some(format!("^[{space}{invisible}]*$")));
    let builder = AnyOfBuilder::new().schema_type(SchemaType::AnyValue);
    builder.item(form.max_length(Some(max))).item(empty.max_length(Some(max)))
}

pub(super) fn integer(min: usize, max: i64) -> ObjectBuilder {
    use utoipa::openapi::{KnownFormat, SchemaFormat};
    let format = SchemaFormat::KnownFormat(KnownFormat::Int64);
    let max = usize::try_from(max).unwrap_or(usize::MAX);
    let builder = ObjectBuilder::new().schema_type(Type::Integer).format(Some(format));
    builder.minimum(Some(min)).maximum(Some(max))
}

/// One of a closed set of words.
pub(super) fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> ObjectBuilder {
    string().enum_values(Some(words))
}

/// A text of a format that the tests of the API know how to make.
pub(super) fn format(builder: ObjectBuilder, name: &str) -> ObjectBuilder {
    builder.format(Some(utoipa::openapi::SchemaFormat::Custom(name.to_owned())))
}

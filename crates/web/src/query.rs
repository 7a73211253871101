//! Query strings. Each reader collects errors and returns `None`, so that one response reports every error.
//!
//! An unknown parameter is an error: ignoring a mistyped filter would return all orders instead of the wanted ones.

use std::str::FromStr;

use actix_web::{HttpRequest, web};
use serde::{Deserialize, Serialize};

use crate::{ApiError, FieldErrors, TextRule};

/// The page size when the caller gives none.
pub const PAGE_LIMIT_DEFAULT: usize = 20;
/// The largest page size.
pub const PAGE_LIMIT_MAX: usize = 100;
/// Longer than any cursor.
const CURSOR: TextRule = TextRule::code(200);

/// Truncates names in errors, so that the response is never much larger than the request.
const NAME_SHOWN_MAX: usize = 64;

/// The wanted page. The service at the edge has validated it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageQuery {
    /// 1 to 100.
    pub limit: usize,
    /// The page starts after this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starting_after: Option<String>,
}

/// The parameters of a query string. Each is read once.
pub struct QueryFields {
    pairs: Vec<(String, String)>,
    known: Vec<&'static str>,
    field_errors: FieldErrors,
}

impl QueryFields {
    fn of(request: &HttpRequest) -> Result<Self, ApiError> {
        let pairs = web::Query::<Vec<(String, String)>>::from_query(request.query_string())
            .map_err(|_| ApiError::invalid_field("", "invalid_format", "The query string cannot be read."))?;
        let mut fields =
            Self { pairs: pairs.into_inner(), known: Vec::new(), field_errors: FieldErrors::default() };
        fields.reject_invalid_utf8(request.query_string());
        Ok(fields)
    }

    /// Removes parameters that are not UTF-8: the decoder replaced their bytes by U+FFFD.
    fn reject_invalid_utf8(&mut self, query: &str) {
        let parameters = query.split('&').filter(|pair| !pair.is_empty());
        let is_readable: Vec<bool> =
            parameters.map(|pair| std::str::from_utf8(&decoded(pair)).is_ok()).collect();
        let mut is_readable = is_readable.into_iter().chain(std::iter::repeat(true));
        let field_errors = &self.field_errors;
        self.pairs.retain(|(name, _)| {
            let is_readable = is_readable.next().unwrap_or(true);
            if !is_readable {
                let name: String = name.chars().take(NAME_SHOWN_MAX).collect();
                let message = format!("{name} is not UTF-8; write each byte of a character as %XX.");
                field_errors.add(name, "invalid_format", message);
            }
            is_readable
        });
    }

    /// Reports an invalid parameter.
    pub fn reject(&self, name: &str, code: &'static str, message: impl Into<String>) {
        self.field_errors.add(name, code, message);
    }

    /// The raw value. A repeated parameter is an error.
    fn value(&mut self, name: &'static str) -> Option<String> {
        self.known.push(name);
        let mut values = self.pairs.iter().filter(|(key, _)| key == name).map(|(_, value)| value);
        match (values.next(), values.next()) {
            (_, Some(_)) => {
                self.reject(name, "invalid_value", format!("{name} is given more than once."));
                None
            }
            (first, None) => first.cloned(),
        }
    }

    /// A text under the rule of the stored field. An empty text is an error, because it cannot match.
    pub fn text(&mut self, name: &'static str, rule: TextRule) -> Option<String> {
        let value = self.value(name)?;
        match rule.check(&value) {
            Ok(Some(text)) => Some(text.to_owned()),
            Ok(None) => {
                self.reject(name, "invalid_value", format!("{name} must not be empty."));
                None
            }
            Err(error) => {
                self.reject(name, error.code, format!("{name} {}", error.message));
                None
            }
        }
    }

    /// A value with its own format; `wanted` describes the format in the error message.
    pub fn parsed<T: FromStr>(&mut self, name: &'static str, wanted: &str) -> Option<T> {
        self.parsed_by(name, wanted, |text| text.parse().ok())
    }

    /// As [`QueryFields::parsed`], for types without `FromStr`.
    pub fn parsed_by<T>(
        &mut self,
        name: &'static str,
        wanted: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let value = self.value(name)?;
        let parsed = parse(&value);
        if parsed.is_none() {
            self.reject(name, "invalid_value", format!("{name} must be {wanted}."));
        }
        parsed
    }

    /// `limit` (1–100, 20 when left out) and `startingAfter`.
    pub fn page(&mut self) -> PageQuery {
        let limit = match self.value("limit") {
            None => PAGE_LIMIT_DEFAULT,
            Some(text) => whole_number(&text)
                .filter(|limit| (1..=PAGE_LIMIT_MAX).contains(limit))
                .unwrap_or_else(|| {
                    let message = format!("limit must be a whole number between 1 and {PAGE_LIMIT_MAX}.");
                    self.reject("limit", "out_of_range", message);
                    PAGE_LIMIT_DEFAULT
                }),
        };
        PageQuery { limit, starting_after: self.text("startingAfter", CURSOR) }
    }

    fn finish(self) -> Result<(), ApiError> {
        let mut reported = Vec::new();
        for (name, _) in &self.pairs {
            let name = name.as_str();
            if self.known.contains(&name) || reported.contains(&name) {
                continue;
            }
            // Not more than a response has: thousands of names are compared with each other for longer than a second.
            if reported.len() == FieldErrors::MAX {
                break;
            }
            reported.push(name);
            let name: String = name.chars().take(NAME_SHOWN_MAX).collect();
            let message = match self.known.as_slice() {
                [] => format!("{name} is not a parameter of this call, which takes none."),
                known => {
                    format!("{name} is not a parameter of this list. Known parameters: {}.", known.join(", "))
                }
            };
            self.field_errors.add(name, "unknown_parameter", message);
        }
        if self.field_errors.is_empty() { Ok(()) } else { Err(ApiError::invalid(self.field_errors)) }
    }
}

/// Percent-decodes a part of a query string.
fn decoded(text: &str) -> Vec<u8> {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match (byte, digit(bytes.get(at + 1)), digit(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                decoded.push(u8::try_from(16 * high + low).unwrap_or_default());
                at += 3;
            }
            _ => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    decoded
}

/// Accepts digits only: the meaning of `+5` is unclear in a query string.
fn whole_number(text: &str) -> Option<usize> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Reads the query string; `read` reads each known parameter.
///
/// # Errors
/// 400 with every error, including unknown parameters.
pub fn read_query<T>(request: &HttpRequest, read: impl FnOnce(&mut QueryFields) -> T) -> Result<T, ApiError> {
    let mut fields = QueryFields::of(request)?;
    let found = read(&mut fields);
    fields.finish().map(|()| found)
}

/// For calls without parameters: `?dryRun=true` must not place an order.
///
/// # Errors
/// 400 that names each parameter.
pub fn no_query(request: &HttpRequest) -> Result<(), ApiError> {
    if request.query_string().is_empty() { Ok(()) } else { read_query(request, |_| ()) }
}

/// [`QueryFields::page`] for lists without filters.
///
/// # Errors
/// As [`read_query`].
pub fn page_query(request: &HttpRequest) -> Result<PageQuery, ApiError> {
    read_query(request, QueryFields::page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::ResponseError;
    use actix_web::test::TestRequest;
    use domain::Mode;

    fn read(query: &str) -> Result<(PageQuery, Option<Mode>, Option<String>), String> {
        let request = TestRequest::with_uri(&format!("/orders?{query}")).to_http_request();
        let found = read_query(&request, |fields| {
            let page = fields.page();
            (page, fields.parsed("mode", "test or live"), fields.text("orderReference", TextRule::code(5)))
        });
        found.map_err(|error| {
            assert_eq!((error.status_code().as_u16(), error.code()), (400, "invalid_request"), "{query}");
            let body = error.body("");
            let field_errors = body["errors"].as_array().unwrap().iter();
            let reported = field_errors.map(|error| {
                format!("{} {}", error["field"].as_str().unwrap(), error["code"].as_str().unwrap())
            });
            reported.collect::<Vec<_>>().join(", ")
        })
    }

    #[test]
    fn omitted_parameters_have_defaults_and_given_ones_are_read() {
        let (page, mode, reference) = read("").unwrap();
        assert_eq!((page.limit, page.starting_after, mode, reference), (20, None, None, None));
        let (page, mode, reference) =
            read("mode=live&limit=100&startingAfter=ord_1&orderReference=%20a+b%20").unwrap();
        assert_eq!((page.limit, page.starting_after.as_deref()), (100, Some("ord_1")));
        assert_eq!((mode, reference.as_deref()), (Some(Mode::Live), Some("a b")));
        let (_, _, reference) = read("orderReference=%EF%BF%BD%25%C3%A9").unwrap();
        assert_eq!(reference.as_deref(), Some("\u{fffd}%é"), "a character that was meant");
    }

    #[test]
    fn a_call_without_parameters_takes_none() {
        let read = |uri: &str| no_query(&TestRequest::with_uri(uri).to_http_request());
        assert_eq!(read("/orders"), Ok(()));
        assert_eq!(read("/orders?"), Ok(()));
        let body = read("/orders?dryRun=true").unwrap_err().body("");
        let error = &body["errors"][0];
        assert_eq!(
            (error["field"].as_str(), error["code"].as_str()),
            (Some("dryRun"), Some("unknown_parameter"))
        );
    }

    #[test]
    fn every_error_is_named() {
        for (query, field_errors) in [
            ("limit=0", "limit out_of_range"),
            ("limit=101", "limit out_of_range"),
            ("limit=abc", "limit out_of_range"),
            ("limit=%2B5", "limit out_of_range"),
            ("limit=5.0", "limit out_of_range"),
            ("limit=", "limit out_of_range"),
            ("limit=99999999999999999999999", "limit out_of_range"),
            ("limit=5&limit=5", "limit invalid_value"),
            ("startingAfter=", "startingAfter invalid_value"),
            ("startingAfter=a%00", "startingAfter invalid_format"),
            ("mode=LIVE", "mode invalid_value"),
            ("orderReference=", "orderReference invalid_value"),
            ("orderReference=%E2%80%8B", "orderReference invalid_value"),
            ("orderReference=a%E2%80%8Bb", "orderReference invalid_format"),
            ("orderReference=abcdef", "orderReference too_long"),
            ("orderReference=a%ff", "orderReference invalid_format"),
            ("&limit=5&&orderReference=%C3%28&mode=x", "orderReference invalid_format, mode invalid_value"),
            ("%FF=1", "\u{fffd} invalid_format"),
            ("Limit=5", "Limit unknown_parameter"),
            ("x=1&x=2", "x unknown_parameter"),
            ("=", " unknown_parameter"),
            (
                "limit=0&mode=x&statsu=created&startingAfter=",
                "limit out_of_range, startingAfter invalid_value, mode invalid_value, statsu unknown_parameter",
            ),
        ] {
            assert_eq!(read(query).unwrap_err(), field_errors, "{query}");
        }
    }
}

//! Exports: files of any length. Pages are read while they are sent, so that memory is bounded.

use std::io;
use std::time::Duration;

use actix_web::http::header;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use domain::BusinessId;
use futures_util::stream::try_unfold;
use internal_api::CallError;
use tokio::time::Instant;
use web::ApiError;

use crate::audit::domain::Author;
use crate::http::errors;
use crate::state::{ExportSlot, State};

/// Bounds the time that a slow client may hold a connection. One that reads nothing loses it earlier (`web`).
const EXPORT_MAX: Duration = Duration::from_secs(600);

/// How the file is offered to the browser.
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) content_type: &'static str,
}

/// A file name with its owner, and with the period in the operator's time zone. The end is exclusive; without one, the file
/// ends now.
pub(crate) fn named(
    owner: &str,
    what: &str,
    (since, until): (Option<DateTime<Utc>>, Option<DateTime<Utc>>),
    (now, zone): (DateTime<Utc>, Tz),
) -> String {
    let day = |at: DateTime<Utc>| at.with_timezone(&zone).format("%Y-%m-%d");
    let from = since.map(|since| format!("-from-{}", day(since))).unwrap_or_default();
    let last = until.map_or(now, |until| until - TimeDelta::milliseconds(1));
    format!("{owner}-{what}{from}-to-{}", day(last))
}

/// The business in a file name: its name in letters that every system accepts, or its id.
pub(crate) fn owner(business: BusinessId, name: &str) -> String {
    let words: Vec<String> = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    if words.is_empty() { business.to_string() } else { words.join("-") }
}

/// The names of the parameters, for the audit log. Their values may be e-mail addresses or phones.
pub(crate) fn parameters(request: &HttpRequest) -> Vec<&str> {
    let names = request.query_string().split('&').filter_map(|pair| pair.split('=').next());
    names.filter(|name| !name.is_empty()).collect()
}

/// The content of a file.
pub(crate) trait Pages: 'static {
    /// The next part of the file. `None` at its end.
    async fn next(&mut self, state: &State) -> Result<Option<Vec<u8>>, ApiError>;
}

struct Export<P> {
    state: Data<State>,
    pages: P,
    until: Instant,
    _slot: ExportSlot,
}

impl<P: Pages> Export<P> {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, ApiError> {
        let ended = |reason: &str| {
            ApiError::from(CallError::Unavailable { service: "portal-api", reason: reason.to_owned() })
        };
        if self.state.tasks.draining().is_cancelled() {
            return Err(ended("the service is stopping"));
        }
        if Instant::now() >= self.until {
            return Err(ended("the export took too long"));
        }
        self.pages.next(&self.state).await
    }
}

/// A slot for an export. Taken before the entry of the audit log is written.
///
/// # Errors
/// 429 if the author or the business has too many.
pub(crate) fn begin(
    state: &State,
    author: &Author,
    business: Option<BusinessId>,
) -> Result<ExportSlot, ApiError> {
    state.exports.begin(author, business).ok_or_else(errors::too_many_exports)
}

/// Sends the head and then all pages. On an error the connection is closed, so that an incomplete file is not mistaken for a
/// complete one.
///
/// # Errors
/// Those of the first page, which is read before the response starts, so that they get their own status.
pub(crate) async fn send(
    (state, slot): (Data<State>, ExportSlot),
    file: &File,
    head: Vec<u8>,
    pages: impl Pages,
) -> Result<HttpResponse, ApiError> {
    let mut export = Export { state, pages, until: Instant::now() + EXPORT_MAX, _slot: slot };
    let mut first = head;
    first.extend_from_slice(&export.next().await?.unwrap_or_default());
    let chunks = try_unfold((Some(Bytes::from(first)), export), async |(first, mut export)| {
        let chunk = match first {
            Some(first) => Some(first),
            None => export.next().await.map_err(incomplete)?.map(Bytes::from),
        };
        Ok::<_, io::Error>(chunk.map(|chunk| (chunk, (None, export))))
    });
    Ok(HttpResponse::Ok()
        .content_type(file.content_type)
        .insert_header((header::CONTENT_DISPOSITION, format!("attachment; filename=\"{}\"", file.name)))
        .streaming(Box::pin(chunks)))
}

fn incomplete(error: ApiError) -> io::Error {
    tracing::warn!(%error, "export ended before it was complete");
    io::Error::other(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_after_its_business_and_its_days() {
        let business: BusinessId = "biz_01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
        for (name, expected) in [
            ("Corner Shop", "corner-shop"),
            ("  A&B's \"Best\" / Ltd. ", "a-b-s-best-ltd"),
            ("नमस्ते", "biz_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ] {
            assert_eq!(owner(business, name), expected);
        }
        let at = |text: &str| Some(text.parse::<DateTime<Utc>>().unwrap());
        let now = ("2026-11-29T20:00:00Z".parse().unwrap(), Tz::Asia__Kolkata);
        for (since, until, expected) in [
            (None, None, "shop-log-to-2026-11-30"),
            (at("2026-01-31T18:30:00Z"), None, "shop-log-from-2026-02-01-to-2026-11-30"),
            (None, at("2026-02-28T18:30:00Z"), "shop-log-to-2026-02-28"),
        ] {
            assert_eq!(named("shop", "log", (since, until), now), expected);
        }
    }
}

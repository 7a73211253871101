//! Exports: files of any length. Pages are read while they are sent, so that memory is bounded.

use std::io;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::Data;
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

/// A file name with the period in the operator's time zone, whose end is exclusive.
pub(crate) fn named(
    base: &str,
    extension: &str,
    (since, until): (Option<DateTime<Utc>>, Option<DateTime<Utc>>),
    zone: Tz,
) -> String {
    let day = |at: DateTime<Utc>| at.with_timezone(&zone).format("%Y-%m-%d");
    let from = since.map(|since| format!("-from-{}", day(since))).unwrap_or_default();
    let last = until.map(|until| until - TimeDelta::milliseconds(1));
    let to = last.map(|last| format!("-to-{}", day(last))).unwrap_or_default();
    format!("{base}{from}{to}.{extension}")
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

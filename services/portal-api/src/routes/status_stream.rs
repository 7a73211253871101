//! `GET /v1/portal/status/stream`: that something changed which the overview shows, as server-sent events.

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::web::{Data, ReqData};
use bytes::Bytes;
use tokio::time::{Instant, sleep_until};
use web::ApiError;

use super::errors;
use super::event_stream::{self, Connection};
use crate::app::App;
use crate::domain::Session;
use crate::status_changes::StatusStream;

/// Between two that a page is told of: it asks for the whole status at each.
const PAUSE_MIN: Duration = Duration::from_secs(1);
/// What follows from a change elsewhere, a webhook that fails or a fee that comes back, is announced by nobody; it has
/// happened by then.
const ECHO_AFTER: Duration = Duration::from_secs(3);
const CHANGED: &[u8] = b"event: changed\ndata: {}\n\n";

/// The first event comes at once: what happened while the page was not connected was not heard.
#[utoipa::path(
    get,
    path = "/v1/portal/status/stream",
    operation_id = "followStatus",
    tag = "Overview",
    summary = "Hear when the status may have changed (server-sent events)",
    responses((status = 200, description = "`event: changed` with `{}` when something that the overview shows may have changed, at most once a second; the first one at once.", body = String, content_type = "text/event-stream")),
)]
pub(super) async fn stream(app: Data<App>, session: ReqData<Session>) -> Result<HttpResponse, ApiError> {
    let changes =
        app.status_changes.open(session.business, session.user).ok_or_else(errors::too_many_streams)?;
    let now = Instant::now();
    let page = Page {
        connection: Connection::of(&app, &session),
        changes,
        due: Some(now),
        echo: None,
        not_before: now,
    };
    Ok(event_stream::respond(page, Page::next_chunk))
}

/// One page that follows.
struct Page {
    connection: Connection,
    changes: StatusStream,
    /// When the page is to be told.
    due: Option<Instant>,
    /// When it is to be told once more.
    echo: Option<Instant>,
    not_before: Instant,
}

impl Page {
    async fn next_chunk(&mut self) -> Option<Bytes> {
        loop {
            tokio::select! {
                beat = self.connection.beat() => return beat,
                () = reached(self.due) => {
                    self.due = None;
                    self.not_before = Instant::now() + PAUSE_MIN;
                    return Some(Bytes::from_static(CHANGED));
                }
                () = reached(self.echo) => {
                    self.echo = None;
                    self.be_due();
                }
                is_open = self.changes.changed() => {
                    if !is_open {
                        return None;
                    }
                    self.echo = Some(Instant::now() + ECHO_AFTER);
                    self.be_due();
                }
            }
        }
    }

    fn be_due(&mut self) {
        self.due.get_or_insert(self.not_before.max(Instant::now()));
    }
}

/// Never, when there is no time.
async fn reached(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

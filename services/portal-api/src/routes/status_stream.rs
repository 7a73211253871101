//! `GET /v1/portal/status/stream`: signals that the status may have changed, as server-sent events.

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::web::{Data, ReqData};
use bytes::Bytes;
use tokio::time::{Instant, sleep_until};
use web::ApiError;

use super::errors;
use super::event_stream::{self, Connection};
use crate::domain::Session;
use crate::live_updates::StatusStream;
use crate::state::State;

/// The minimum time between two signals, because a page requests the whole status after each.
const INTERVAL_MIN: Duration = Duration::from_secs(1);
/// A second signal follows each change after this time: consequences in other services, such as a failed webhook or a
/// refunded fee, are not announced.
const ECHO_AFTER: Duration = Duration::from_secs(3);
const CHANGED: &[u8] = b"event: changed\ndata: {}\n\n";

#[utoipa::path(
    get,
    path = "/v1/portal/status/stream",
    operation_id = "followStatus",
    tag = "Overview",
    summary = "Follow status changes (server-sent events)",
    description = "The first event is immediate, because changes may have been missed before the connection.",
    responses((status = 200, description = "`event: changed` with `{}` when the status may have changed, at most once a second; the first one immediately.", body = String, content_type = "text/event-stream")),
)]
pub(super) async fn stream(state: Data<State>, session: ReqData<Session>) -> Result<HttpResponse, ApiError> {
    let changes =
        state.status_streams.open(session.business, session.user).ok_or_else(errors::too_many_streams)?;
    let now = Instant::now();
    let page = Page {
        connection: Connection::of(&state, &session),
        changes,
        due: Some(now),
        echo: None,
        not_before: now,
    };
    Ok(event_stream::respond(page, Page::next_chunk))
}

/// The stream of one page.
struct Page {
    connection: Connection,
    changes: StatusStream,
    /// When the next signal is sent.
    due: Option<Instant>,
    /// When the second signal is sent.
    echo: Option<Instant>,
    not_before: Instant,
}

impl Page {
    async fn next_chunk(&mut self) -> Option<Bytes> {
        loop {
            tokio::select! {
                beat = self.connection.heartbeat() => return beat,
                () = reached(self.due) => {
                    self.due = None;
                    self.not_before = Instant::now() + INTERVAL_MIN;
                    return Some(Bytes::from_static(CHANGED));
                }
                () = reached(self.echo) => {
                    self.echo = None;
                    self.schedule();
                }
                is_open = self.changes.changed() => {
                    if !is_open {
                        return None;
                    }
                    self.echo = Some(Instant::now() + ECHO_AFTER);
                    self.schedule();
                }
            }
        }
    }

    fn schedule(&mut self) {
        self.due.get_or_insert(self.not_before.max(Instant::now()));
    }
}

/// Waits forever without a time.
async fn reached(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

//! `GET /v1/portal/status/stream`: signals that the status may have changed, as server-sent events.

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::web::{Data, ReqData};
use bytes::Bytes;
use tokio::time::{Instant, sleep_until};
use web::ApiError;

use crate::domain::Session;
use crate::http::errors;
use crate::http::event_stream::{self, Connection};
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
pub(crate) async fn stream(state: Data<State>, session: ReqData<Session>) -> Result<HttpResponse, ApiError> {
    let changes =
        state.status_streams.open(session.business, session.user).ok_or_else(errors::too_many_streams)?;
    let page = Page {
        connection: Connection::of(&state, &session),
        changes,
        signals: Signals::begin(Instant::now()),
    };
    Ok(event_stream::respond(page, Page::next_chunk))
}

/// The stream of one page.
struct Page {
    connection: Connection,
    changes: StatusStream,
    signals: Signals,
}

impl Page {
    async fn next_chunk(&mut self) -> Option<Bytes> {
        loop {
            tokio::select! {
                beat = self.connection.heartbeat() => return beat,
                () = reached(self.signals.next()) => {
                    if self.signals.take(Instant::now()) {
                        return Some(Bytes::from_static(CHANGED));
                    }
                }
                is_open = self.changes.changed() => {
                    if !is_open {
                        return None;
                    }
                    self.signals.changed(Instant::now());
                }
            }
        }
    }
}

/// When a page is signalled.
struct Signals {
    due: Option<Instant>,
    /// When the second signal is sent.
    echo: Option<Instant>,
    not_before: Instant,
}

impl Signals {
    fn begin(now: Instant) -> Self {
        Self { due: Some(now), echo: None, not_before: now }
    }

    /// When to call [`Signals::take`].
    fn next(&self) -> Option<Instant> {
        self.due.into_iter().chain(self.echo).min()
    }

    /// Whether to send a signal now.
    fn take(&mut self, now: Instant) -> bool {
        if self.echo.take_if(|echo| *echo <= now).is_some() {
            self.schedule(now);
        }
        let is_due = self.due.take_if(|due| *due <= now).is_some();
        if is_due {
            self.not_before = now + INTERVAL_MIN;
        }
        is_due
    }

    fn changed(&mut self, now: Instant) {
        self.echo = Some(now + ECHO_AFTER);
        self.schedule(now);
    }

    fn schedule(&mut self, now: Instant) {
        self.due.get_or_insert(self.not_before.max(now));
    }
}

/// Waits forever without a time.
async fn reached(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_signalled_at_once_but_once_a_second_and_again_after_three() {
        let begin = Instant::now();
        let mut signals = Signals::begin(begin);
        // A change at each of these times, in milliseconds, and none afterwards.
        let mut changes = (0..20).map(|change| begin + Duration::from_millis(2_000 + 50 * change)).peekable();
        let mut sent = Vec::new();
        loop {
            let next = match (changes.peek().copied(), signals.next()) {
                (Some(change), due) if due.is_none_or(|due| change < due) => {
                    signals.changed(change);
                    changes.next();
                    continue;
                }
                (_, due) => due,
            };
            let Some(next) = next else { break };
            if signals.take(next) {
                sent.push((next - begin).as_millis());
            }
        }
        assert_eq!(sent, [0, 2_000, 3_000, 5_950]);
    }
}

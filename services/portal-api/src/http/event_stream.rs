//! The common parts of server-sent event streams.

use std::convert::Infallible;

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::{Data, ReqData};
use bytes::Bytes;
use futures_util::stream::unfold;
use tokio_util::sync::CancellationToken;

use crate::domain::Session;
use crate::live_updates::{SessionStatus, WatchedSession};
use crate::state::State;

/// Keeps a stream open until its session ends or the service stops.
pub(crate) struct Connection {
    session: WatchedSession,
    draining: CancellationToken,
}

impl Connection {
    pub(crate) fn of(state: &Data<State>, session: &ReqData<Session>) -> Self {
        Self { session: state.session_monitor.watch(session), draining: state.tasks.draining() }
    }

    /// Waits for the next heartbeat, which keeps proxies from closing an idle stream and detects closed pages. `None` ends the
    /// stream: the service stops, or the session has ended.
    pub(crate) async fn heartbeat(&mut self) -> Option<Bytes> {
        tokio::select! {
            () = self.draining.cancelled() => None,
            status = self.session.checked() => {
                (status == SessionStatus::Open).then(|| Bytes::from_static(b": heartbeat\n\n"))
            }
        }
    }
}

/// Streams the chunks that `next` returns, until it returns `None`.
pub(crate) fn respond<P: 'static>(
    page: P,
    next: impl AsyncFnMut(&mut P) -> Option<Bytes> + 'static,
) -> HttpResponse {
    let chunks = unfold((page, next), async |(mut page, mut next)| {
        let chunk = next(&mut page).await?;
        Some((Ok::<_, Infallible>(chunk), (page, next)))
    });
    HttpResponse::Ok()
        .content_type("text/event-stream")
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .insert_header(("x-accel-buffering", "no"))
        .streaming(Box::pin(chunks))
}

//! What the streams of server-sent events have in common.

use std::convert::Infallible;

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::{Data, ReqData};
use bytes::Bytes;
use futures_util::stream::unfold;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::domain::Session;
use crate::session_watch::{Verdict, WatchedSession};

/// What holds a stream open, whatever it tells of.
pub(super) struct Connection {
    session: WatchedSession,
    draining: CancellationToken,
}

impl Connection {
    pub(super) fn of(app: &Data<App>, session: &ReqData<Session>) -> Self {
        Self { session: app.session_watch.follow(session), draining: app.tasks.draining() }
    }

    /// Waits for the next sign of life, which keeps proxies from closing a quiet stream, and finds out that the page is
    /// gone. `None` ends the stream: the service stops, or the session has ended.
    pub(super) async fn beat(&mut self) -> Option<Bytes> {
        tokio::select! {
            () = self.draining.cancelled() => None,
            verdict = self.session.checked() => {
                (verdict == Verdict::Open).then(|| Bytes::from_static(b": heartbeat\n\n"))
            }
        }
    }
}

/// Streams what `next` says of the page, until it says `None`.
pub(super) fn respond<P: 'static>(
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

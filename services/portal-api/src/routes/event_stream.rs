//! What the streams of server-sent events have in common.

use std::convert::Infallible;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::{Data, ReqData};
use bytes::Bytes;
use futures_util::stream::unfold;
use tokio::time::{Instant, Interval, interval_at};
use tokio_util::sync::CancellationToken;

use super::guard;
use crate::app::App;
use crate::domain::Session;

/// Keeps proxies from closing a quiet stream, and finds out that the page is gone or its session has ended: a stream
/// outlives its session by less than the five seconds that a revoked key may.
const HEARTBEAT: Duration = Duration::from_secs(4);

/// What holds a stream open, whatever it tells of.
pub(super) struct Connection {
    app: Data<App>,
    session: Session,
    heartbeat: Interval,
    draining: CancellationToken,
}

impl Connection {
    pub(super) fn of(app: Data<App>, session: ReqData<Session>) -> Self {
        Self {
            draining: app.tasks.draining(),
            app,
            session: session.into_inner(),
            heartbeat: interval_at(Instant::now() + HEARTBEAT, HEARTBEAT),
        }
    }

    /// Waits until `beat` is due.
    pub(super) async fn due(&mut self) {
        tokio::select! {
            () = self.draining.cancelled() => {}
            _ = self.heartbeat.tick() => {}
        }
    }

    /// The sign of life; `None` ends the stream: the service stops, or the session has ended.
    pub(super) async fn beat(&self) -> Option<Bytes> {
        let open = !self.draining.is_cancelled() && guard::is_still_open(&self.app, &self.session).await;
        open.then(|| Bytes::from_static(b": heartbeat\n\n"))
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

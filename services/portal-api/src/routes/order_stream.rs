//! `GET /v1/portal/orders/stream`: a business's orders as they move, as server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use actix_web::http::header;
use actix_web::web::{Data, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use domain::Mode;
use futures_util::stream::unfold;
use tokio::time::{Instant, Interval, interval_at};
use tokio_util::sync::CancellationToken;
use web::ApiError;

use super::openapi::params;
use super::{errors, guard, orders};
use crate::app::App;
use crate::domain::Session;
use crate::live_orders::{LiveOrder, LiveStream, Notice};

/// Keeps proxies from closing a quiet stream, and finds out that the page is gone or its session has ended: a stream
/// outlives its session by less than the five seconds that a revoked key may.
const HEARTBEAT: Duration = Duration::from_secs(4);
const RELOAD: &[u8] = b"event: reload\ndata: {}\n\n";

/// `event: order` for each event of an order; `event: reload` when some may have been missed.
#[utoipa::path(
    get,
    path = "/v1/portal/orders/stream",
    operation_id = "followOrders",
    tag = "Orders",
    summary = "Follow orders as they move (server-sent events)",
    params(params::ModeParams),
    responses((status = 200, description = "`event: order` for each event of an order, `event: reload` when some may have been missed.", body = String, content_type = "text/event-stream")),
)]
pub(super) async fn stream(
    app: Data<App>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let mode = web::read_query(&request, orders::mode)?;
    let live = app.live_orders.open(session.business).ok_or_else(errors::too_many_streams)?;
    // A browser that comes back says what it heard last; what it missed since is not kept here.
    let returns = request.headers().contains_key("last-event-id");
    let page = Page {
        draining: app.tasks.draining(),
        app,
        session: session.into_inner(),
        mode,
        live,
        heartbeat: interval_at(Instant::now() + HEARTBEAT, HEARTBEAT),
        greeting: Some(if returns { RELOAD } else { b": connected\n\n" }),
    };
    let chunks = unfold(page, async |mut page| {
        let chunk = page.next_chunk().await?;
        Some((Ok::<_, Infallible>(chunk), page))
    });
    Ok(HttpResponse::Ok()
        .content_type("text/event-stream")
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .insert_header(("x-accel-buffering", "no"))
        .streaming(Box::pin(chunks)))
}

/// One page that follows.
struct Page {
    app: Data<App>,
    session: Session,
    mode: Option<Mode>,
    live: LiveStream,
    heartbeat: Interval,
    draining: CancellationToken,
    greeting: Option<&'static [u8]>,
}

impl Page {
    /// `None` ends the stream: the service stops, or the session has ended.
    async fn next_chunk(&mut self) -> Option<Bytes> {
        if let Some(greeting) = self.greeting.take() {
            return Some(Bytes::from_static(greeting));
        }
        loop {
            tokio::select! {
                () = self.draining.cancelled() => return None,
                notice = self.live.next() => match notice? {
                    Notice::Reload => return Some(Bytes::from_static(RELOAD)),
                    Notice::Order(order) if self.mode.is_none_or(|mode| mode == order.mode) => {
                        return Some(order_event(&order));
                    }
                    Notice::Order(_) => {}
                },
                _ = self.heartbeat.tick() => {
                    let open = guard::is_still_open(&self.app, &self.session).await;
                    return open.then(|| Bytes::from_static(b": heartbeat\n\n"));
                }
            }
        }
    }
}

fn order_event(order: &LiveOrder) -> Bytes {
    let mut text = format!("event: order\nid: {}\ndata: ", order.id).into_bytes();
    text.extend_from_slice(&order.data);
    text.extend_from_slice(b"\n\n");
    Bytes::from(text)
}

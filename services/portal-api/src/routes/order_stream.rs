//! `GET /v1/portal/orders/stream`: a business's orders as they move, as server-sent events.

use actix_web::web::{Data, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use domain::Mode;
use web::ApiError;

use super::event_stream::{self, Connection};
use super::openapi::params;
use super::{errors, orders};
use crate::app::App;
use crate::domain::Session;
use crate::live_orders::{LiveOrder, LiveStream, Notice};

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
    let live = app.live_orders.open(session.business, session.user).ok_or_else(errors::too_many_streams)?;
    // A browser that comes back says what it heard last; what it missed since is not kept here.
    let returns = request.headers().contains_key("last-event-id");
    let page = Page {
        connection: Connection::of(&app, &session),
        mode,
        live,
        greeting: Some(if returns { RELOAD } else { b": connected\n\n" }),
    };
    Ok(event_stream::respond(page, Page::next_chunk))
}

/// One page that follows.
struct Page {
    connection: Connection,
    mode: Option<Mode>,
    live: LiveStream,
    greeting: Option<&'static [u8]>,
}

impl Page {
    async fn next_chunk(&mut self) -> Option<Bytes> {
        if let Some(greeting) = self.greeting.take() {
            return Some(Bytes::from_static(greeting));
        }
        loop {
            tokio::select! {
                beat = self.connection.beat() => return beat,
                notice = self.live.next() => match notice? {
                    Notice::Reload => return Some(Bytes::from_static(RELOAD)),
                    Notice::Order(order) if self.mode.is_none_or(|mode| mode == order.mode) => {
                        return Some(order_event(&order));
                    }
                    Notice::Order(_) => {}
                },
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

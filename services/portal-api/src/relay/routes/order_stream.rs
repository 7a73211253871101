//! `GET /v1/portal/orders/stream`: order updates as server-sent events.

use actix_web::web::{Data, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use domain::Mode;
use web::ApiError;

use crate::domain::Session;
use crate::http::errors;
use crate::http::event_stream::{self, Connection};
use crate::http::openapi::params;
use crate::live_updates::{OrderStream, OrderUpdate, StreamItem};
use crate::relay::routes::orders;
use crate::state::State;

const RELOAD: &[u8] = b"event: reload\ndata: {}\n\n";

#[utoipa::path(
    get,
    path = "/v1/portal/orders/stream",
    operation_id = "followOrders",
    tag = "Orders",
    summary = "Follow orders (server-sent events)",
    description = "`event: order` for each event of an order; `event: reload` when events may have been missed.",
    params(params::ModeParams),
    responses((status = 200, description = "`event: order` for each event of an order; `event: reload` when events may have been missed.", body = String, content_type = "text/event-stream")),
)]
pub(crate) async fn stream(
    state: Data<State>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let mode = web::read_query(&request, orders::mode)?;
    let stream =
        state.order_streams.open(session.business, session.user).ok_or_else(errors::too_many_streams)?;
    // A reconnecting browser sends the id of the last event. Missed events are not stored here: it must reload.
    let reconnects = request.headers().contains_key("last-event-id");
    let page = Page {
        connection: Connection::of(&state, &session),
        mode,
        stream,
        greeting: Some(if reconnects { RELOAD } else { b": connected\n\n" }),
    };
    Ok(event_stream::respond(page, Page::next_chunk))
}

/// The stream of one page.
struct Page {
    connection: Connection,
    mode: Option<Mode>,
    stream: OrderStream,
    greeting: Option<&'static [u8]>,
}

impl Page {
    async fn next_chunk(&mut self) -> Option<Bytes> {
        if let Some(greeting) = self.greeting.take() {
            return Some(Bytes::from_static(greeting));
        }
        loop {
            tokio::select! {
                beat = self.connection.heartbeat() => return beat,
                item = self.stream.next() => match item? {
                    StreamItem::Reload => return Some(Bytes::from_static(RELOAD)),
                    StreamItem::Order(order) if self.mode.is_none_or(|mode| mode == order.mode) => {
                        return Some(order_event(&order));
                    }
                    StreamItem::Order(_) => {}
                },
            }
        }
    }
}

fn order_event(order: &OrderUpdate) -> Bytes {
    let mut text = format!("event: order\nid: {}\ndata: ", order.id).into_bytes();
    text.extend_from_slice(&order.data);
    text.extend_from_slice(b"\n\n");
    Bytes::from(text)
}

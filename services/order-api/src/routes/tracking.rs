//! Where is my parcel: for anyone who holds a tracking code. No personal data.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::{Data, Json, Path};
use chrono::{DateTime, Utc};
use domain::{DeliveryStatus, EventKind, Mode, TrackingCode};
use serde::Serialize;
use web::ApiError;

use super::errors;
use crate::app::App;
use crate::domain::{Order, OrderEvent};
use crate::store::{orders, timeline};

/// A delivery has few steps; a driver who drops out again and again adds some.
const STEPS_MAX: usize = 100;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TrackingView {
    tracking_code: TrackingCode,
    mode: Mode,
    status: DeliveryStatus,
    updated_at: DateTime<Utc>,
    steps: Vec<Step>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    event: EventKind,
    status: DeliveryStatus,
    occurred_at: DateTime<Utc>,
}

/// `GET /v1/tracking/{trackingCode}`
pub(super) async fn json(app: Data<App>, code: Path<String>) -> Result<Json<TrackingView>, ApiError> {
    let view = look_up(&app, &code).await?;
    view.map(Json).ok_or_else(|| ApiError::not_found("tracking_code_not_found", "tracking code"))
}

/// `GET /track/{trackingCode}`: a page that needs no script
pub(super) async fn page(app: Data<App>, code: Path<String>) -> Result<HttpResponse, ApiError> {
    let brand = &app.settings.brand.name;
    let (status, body) = match look_up(&app, &code).await? {
        Some(view) => (StatusCode::OK, render(brand, &view)),
        None => (StatusCode::NOT_FOUND, render_unknown(brand)),
    };
    Ok(HttpResponse::build(status)
        .content_type("text/html; charset=utf-8")
        .insert_header((
            "Content-Security-Policy",
            "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'",
        ))
        .insert_header(("Referrer-Policy", "no-referrer"))
        .insert_header(("Cache-Control", "no-store"))
        .body(body))
}

async fn look_up(app: &App, code: &str) -> Result<Option<TrackingView>, ApiError> {
    // The check character spares the database most guesses.
    let Ok(code) = code.parse::<TrackingCode>() else { return Ok(None) };
    let mut conn = app.database.connection().await.map_err(errors::from_store)?;
    let Some(order) = orders::by_tracking_code(&mut conn, &code).await.map_err(errors::from_store)? else {
        return Ok(None);
    };
    let events = timeline::list(&mut conn, order.business_id, order.id, None, STEPS_MAX).await;
    Ok(Some(view(order, events.map_err(errors::from_store)?)))
}

/// Cash is a matter between driver and business.
fn view(order: Order, events: Vec<OrderEvent>) -> TrackingView {
    let is_cash =
        |kind| matches!(kind, EventKind::CodCollected | EventKind::CodHandedOver | EventKind::CodSettled);
    let steps = events
        .into_iter()
        .filter(|event| !is_cash(event.kind))
        .map(|event| Step { event: event.kind, status: event.status, occurred_at: event.occurred_at })
        .collect();
    TrackingView {
        tracking_code: order.tracking_code,
        mode: order.mode,
        status: order.state.status,
        updated_at: order.updated_at,
        steps,
    }
}

fn words(event: EventKind) -> &'static str {
    match event {
        EventKind::OrderCreated => "Order received",
        EventKind::DriverAssigned => "Driver on the way to pick up",
        EventKind::DriverUnassigned => "Looking for another driver",
        EventKind::OrderPickedUp => "Picked up",
        EventKind::OrderOutForDelivery => "Out for delivery",
        EventKind::OrderDelivered => "Delivered",
        EventKind::OrderFailed => "Delivery failed",
        EventKind::OrderCancelled => "Cancelled",
        EventKind::OrderReturned => "Returned to the sender",
        _ => "Updated",
    }
}

fn render(brand: &str, view: &TrackingView) -> String {
    let steps: String = view
        .steps
        .iter()
        .map(|step| {
            let time = step.occurred_at.format("%d %b %Y, %H:%M UTC");
            format!(
                "<li><b>{}</b><time datetime=\"{}\">{time}</time></li>",
                words(step.event),
                step.occurred_at.to_rfc3339()
            )
        })
        .collect();
    let headline = view.steps.last().map_or("Order received", |step| words(step.event));
    let test = match view.mode {
        Mode::Test => "<p class=\"test\">This is a test order. Nothing will be delivered.</p>",
        Mode::Live => "",
    };
    document(
        brand,
        &format!("{test}<h1>{headline}</h1><p class=\"code\">{}</p><ol>{steps}</ol>", view.tracking_code),
    )
}

fn render_unknown(brand: &str) -> String {
    document(
        brand,
        "<h1>We cannot find this parcel</h1><p>Check the link in your message: the code may be cut off. \
         If it still does not work, ask the shop that you ordered from.</p>",
    )
}

fn document(brand: &str, content: &str) -> String {
    let brand = escape(brand);
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"robots\" content=\"noindex\"><title>{brand}: parcel tracking</title><style>{STYLE}</style></head>\
         <body><main><header>{brand}</header>{content}</main></body></html>"
    )
}

const STYLE: &str = "body{margin:0;background:#f4f5f7;color:#1c2330;font:16px/1.5 system-ui,sans-serif}\
main{max-width:30rem;margin:0 auto;padding:1.5rem}header{font-weight:700;color:#4a5568}\
h1{font-size:1.6rem;margin:.75rem 0 .25rem}.code{font-family:ui-monospace,monospace;color:#4a5568;margin:0 0 1.5rem}\
.test{background:#fff3cd;border:1px solid #e0c060;border-radius:.5rem;padding:.5rem .75rem}\
ol{list-style:none;margin:0;padding:0 0 0 1rem;border-left:3px solid #2f6fed}\
li{padding:.35rem 0 .6rem}li b{display:block}time{color:#4a5568;font-size:.9rem}\
@media(prefers-color-scheme:dark){body{background:#12161d;color:#e8ecf3}.code,time,header{color:#a3adbd}\
.test{background:#3a3110;border-color:#6b5a20}}";

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

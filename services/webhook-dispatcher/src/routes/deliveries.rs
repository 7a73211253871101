//! `GET …/webhook-endpoints/{endpoint}/deliveries?status=&event=&mode=&responseStatus=&orderReference=&since=&until=`

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use web::{ApiError, QueryFields, TextRule, read_query};

use super::errors::from_page;
use super::{path, view};
use crate::domain::{DeliveryFilter, StatusFilter};
use crate::queries;
use crate::state::State;

/// The longest reference of an order.
const ORDER_REFERENCE: TextRule = TextRule::code(128);

pub(super) async fn list(
    request: HttpRequest,
    state: Data<State>,
    ids: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (business, endpoint) = path::endpoint(&ids)?;
    let filter = read_query(&request, |fields| {
        let page = fields.page();
        let after = page.starting_after.and_then(|id| {
            let after = id.parse().ok();
            if after.is_none() {
                fields.reject(
                    "startingAfter",
                    "invalid_value",
                    "startingAfter names no delivery of this endpoint.",
                );
            }
            after
        });
        let filter = DeliveryFilter {
            endpoint,
            state: fields.parsed("status", "pending, succeeded, failed, discarded or parked"),
            kind: fields.parsed("event", "an event kind, such as order.delivered"),
            mode: fields.parsed("mode", "test or live"),
            response_status: fields.parsed("responseStatus", StatusFilter::WANTED),
            order_reference: fields.text("orderReference", ORDER_REFERENCE),
            since: time(fields, "since"),
            until: time(fields, "until"),
            after,
            limit: page.limit,
        };
        if let (Some(since), Some(until)) = (filter.since, filter.until)
            && since > until
        {
            fields.reject("until", "out_of_range", "until must not be before since.");
        }
        filter
    })?;
    let log = queries::deliveries(&state, business, &filter).await.map_err(from_page)?;
    Ok(HttpResponse::Ok().json(view::of_log(log)))
}

fn time(fields: &mut QueryFields, name: &'static str) -> Option<DateTime<Utc>> {
    fields.parsed_by(name, "a time in RFC 3339 format", |text| {
        DateTime::parse_from_rfc3339(text).ok().map(|time| time.with_timezone(&Utc))
    })
}

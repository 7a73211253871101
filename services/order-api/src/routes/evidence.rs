//! The evidence of the attempts at a delivery: what a fleet reports, what a business reads, and the code of the customer.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json, Path, Payload};
use chrono::{DateTime, Utc};
use domain::{BusinessId, EventKind, EvidencePlace, KeyScope, Mode, Photo, RecipientRelation};
use internal_api::orders::{DeliveryCodeView, EvidenceAttempt, EvidenceOrder, EvidenceView};
use web::{ApiError, Fields, TextRule, no_query, read_no_fields};

use super::limits::{HASH_LENGTH, NAME, PHOTO_URL, PHOTO_URL_BEGIN};
use super::openapi::params;
use super::{after_failure, authenticate, errors, fleet, integration};
use crate::commands::issue_delivery_code::issue_delivery_code;
use crate::domain::{AttemptRecord, DeliveryCode, Evidence, Order, are_intact};
use crate::queries::orders;
use crate::state::State;

/// For everybody who has the answer, without other documents.
const VERIFICATION: &str = "Of each attempt, hash is the SHA-256 of the text record, in hex. record contains previousHash, the \
     hash of the attempt before, and personalHash, the SHA-256 of the text personal, which is null once erased. All texts are \
     UTF-8. Webhooks carried each hash as data.evidence.hash when the attempt ended.";

/// Get the evidence of an order
///
/// The record of each attempt at the delivery, for disputes: place, time, recipient, delivery code, and the photo's hash and link. Each
/// record contains the hash of the one before it, so that later changes show. `verification` says how to check it.
#[utoipa::path(
    get,
    path = "/v1/integration/orders/{id}/evidence",
    operation_id = "getEvidence",
    tag = "Orders",
    params(params::OrderPath),
    responses((status = 200, description = "The evidence.", body = EvidenceView)),
)]
pub(super) async fn of_key(
    state: Data<State>,
    request: HttpRequest,
    id: Path<String>,
) -> Result<Json<EvidenceView>, ApiError> {
    let caller = authenticate::business(&state, &request, KeyScope::ReadOrders).await?;
    no_query(&request)?;
    read(&state, caller.business_id, Some(caller.mode), &id).await
}

/// `GET /internal/businesses/{business}/orders/{id}/evidence`, in either mode
pub(super) async fn of_business(
    state: Data<State>,
    path: Path<(String, String)>,
) -> Result<Json<EvidenceView>, ApiError> {
    read(&state, integration::parse_business(&path.0)?, None, &path.1).await
}

async fn read(
    state: &State,
    business: BusinessId,
    mode: Option<Mode>,
    id: &str,
) -> Result<Json<EvidenceView>, ApiError> {
    let id = integration::parse_id(id)?;
    let found = orders::with_evidence(state, business, mode, id).await?;
    let (order, records) = found.ok_or_else(errors::order_not_found)?;
    evidence_view(order, records).map(Json).map_err(errors::unreadable_evidence)
}

pub(super) fn evidence_view(order: Order, records: Vec<AttemptRecord>) -> serde_json::Result<EvidenceView> {
    let intact = are_intact(order.id, &records);
    Ok(EvidenceView {
        order: EvidenceOrder {
            id: order.id,
            order_reference: order.order_reference,
            tracking_code: order.tracking_code,
            mode: order.mode,
            status: order.state.status,
            created_at: order.created_at,
            personal_data_erased_at: order.personal_data_erased_at,
        },
        attempts: records.into_iter().map(attempt_view).collect::<serde_json::Result<_>>()?,
        intact,
        verification: VERIFICATION.to_owned(),
    })
}

fn attempt_view(stored: AttemptRecord) -> serde_json::Result<EvidenceAttempt> {
    let facts = stored.facts()?;
    let personal = stored.personal_facts()?.unwrap_or_default();
    let photo = personal.photo_url.zip(facts.photo_sha256);
    Ok(EvidenceAttempt {
        attempt: facts.attempt,
        event: facts.event,
        sequence: facts.sequence,
        report_id: facts.report_id,
        occurred_at: facts.occurred_at,
        recorded_at: facts.recorded_at,
        reason: personal.reason,
        reason_code: facts.reason_code,
        captured_at: facts.captured_at,
        place: personal.place,
        recipient_name: personal.recipient_name,
        recipient_relation: facts.recipient_relation,
        code_verified: facts.code_verified,
        photo: photo.map(|(url, sha256)| Photo { url, sha256 }),
        previous_hash: facts.previous_hash,
        hash: stored.hash,
        record: stored.record,
        personal: stored.personal,
    })
}

/// Issue a delivery code
///
/// A code for your customer, who tells it to the driver. This service checks the code that the fleet reports, and never shows it
/// to the fleet or on the tracking page: send it to the customer yourself. The same request again returns the same code.
#[utoipa::path(
    post,
    path = "/v1/integration/orders/{id}/delivery-code",
    operation_id = "issueDeliveryCode",
    tag = "Orders",
    params(params::OrderPath),
    responses((status = 200, description = "The code.", body = DeliveryCodeView)),
)]
pub(super) async fn issue_code(
    state: Data<State>,
    request: HttpRequest,
    id: Path<String>,
    payload: Payload,
) -> Result<Json<DeliveryCodeView>, ApiError> {
    let caller = authenticate::business(&state, &request, KeyScope::WriteOrders).await?;
    no_query(&request)?;
    let id = integration::parse_id(&id)?;
    read_no_fields(&request, payload).await?;
    issue(&state, (caller.business_id, caller.mode, id)).await
}

/// `POST /internal/businesses/{business}/orders/{id}/delivery-code`, in either mode
pub(super) async fn issue_code_of_business(
    state: Data<State>,
    path: Path<(String, String)>,
) -> Result<Json<DeliveryCodeView>, ApiError> {
    let key = after_failure::key_of(&state, &path).await?;
    issue(&state, key).await
}

/// Issues, also when the client disconnects.
async fn issue(state: &Data<State>, key: after_failure::Key) -> Result<Json<DeliveryCodeView>, ApiError> {
    let running = Data::clone(state);
    let issued = state.tasks.run(async move { issue_delivery_code(&running, key).await }).await?;
    let delivery_code = issued.map_err(errors::from_issue)?;
    Ok(Json(DeliveryCodeView { delivery_code }))
}

/// The field `evidence` of a report, and the code in it.
pub(super) fn read_evidence(
    report: &Fields<'_>,
    event: Option<EventKind>,
    now: DateTime<Utc>,
) -> (Option<Evidence>, Option<String>) {
    let Some(fields) = report.optional_object("evidence") else { return (None, None) };
    if event.is_some_and(|event| !matches!(event, EventKind::OrderDelivered | EventKind::OrderFailed)) {
        let message = "evidence belongs to order.delivered and order.failed.";
        report.reject("evidence", "invalid_value", message);
        return (None, None);
    }
    let allowed = RecipientRelation::words().collect::<Vec<_>>().join(", ");
    let relation =
        fields.optional_word::<RecipientRelation>("recipientRelation", &format!("one of {allowed}"));
    let evidence = Evidence {
        captured_at: fields.value("capturedAt").and_then(|_| fleet::past_time(&fields, "capturedAt", now)),
        place: fields.optional_object("place").and_then(|place| read_place(&place)),
        recipient_name: fields.optional_text("recipientName", NAME),
        recipient_relation: relation.map(|relation| relation.to_string()),
        photo: fields.optional_object("photo").and_then(|photo| read_photo(&photo)),
    };
    (Some(evidence), read_code(&fields, event))
}

fn read_place(fields: &Fields<'_>) -> Option<EvidencePlace> {
    let degrees = |name: &str, max: f64| match fields.value(name) {
        None => fields.missing(name),
        Some(_) => fields.optional_number(name, -max, max),
    };
    let (latitude, longitude) = (degrees("latitude", 90.0), degrees("longitude", 180.0));
    Some(EvidencePlace { latitude: latitude?, longitude: longitude? })
}

fn read_photo(fields: &Fields<'_>) -> Option<Photo> {
    let url = fields.required_text("url", PHOTO_URL);
    let sha256 = fields.required_text("sha256", TextRule::code(HASH_LENGTH));
    let is_url = |url: &String| {
        let is_plain = url.starts_with(PHOTO_URL_BEGIN) && url.bytes().all(|byte| byte.is_ascii_graphic());
        is_plain
            && url::Url::parse(url).is_ok_and(|url| url.username().is_empty() && url.password().is_none())
    };
    if url.as_ref().is_some_and(|url| !is_url(url)) {
        let path = fields.path_of("url");
        fields.reject("url", "invalid_format", format!("{path} must be a link that begins with https://."));
    }
    let is_hash = |hash: &String| {
        hash.len() == HASH_LENGTH && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    if sha256.as_ref().is_some_and(|hash| !is_hash(hash)) {
        let path = fields.path_of("sha256");
        let message = format!("{path} must be the SHA-256 of the photo: {HASH_LENGTH} digits from 0 to f.");
        fields.reject("sha256", "invalid_format", message);
    }
    Some(Photo { url: url?, sha256: sha256? })
}

fn read_code(fields: &Fields<'_>, event: Option<EventKind>) -> Option<String> {
    const NAME: &str = "deliveryCode";
    let code = fields.optional_text(NAME, TextRule::code(DeliveryCode::DIGITS))?;
    let reject =
        |code, message: &str| fields.reject(NAME, code, format!("{} {message}", fields.path_of(NAME)));
    if event == Some(EventKind::OrderFailed) {
        reject("invalid_value", "belongs to order.delivered.");
    } else if code.len() != DeliveryCode::DIGITS || !code.bytes().all(|byte| byte.is_ascii_digit()) {
        reject("invalid_format", "must be six digits.");
    }
    Some(code)
}

//! `/v1/operator/businesses`: the operator lists and changes businesses.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::{BusinessId, GoLiveItem, Paise};
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, Fields, JsonBody, TextRule, read_object, read_query};

use crate::approvals::routes::approval_view::{self, ApprovalView};
use crate::business::commands::change_business::change_business;
use crate::business::domain::{BusinessChange, BusinessFilter, BusinessStatus, ListedBusiness, Standing};
use crate::business::queries::{businesses, contact, refusal};
use crate::business::routes::contact::ContactView;
use crate::business::routes::refusal::RefusalView;
use crate::business::routes::{pickup_profile, subscription};
use crate::http::audited::OperatorAuthor;
use crate::http::errors;
use crate::http::openapi::{bodies, params};
use crate::http::operator_records::Sent;
use crate::http::pagination::PageRequest;
use crate::state::State;

/// Of a suspension.
const REASON: TextRule = TextRule::lines(500);
/// As long as an e-mail address may be.
const SEARCH: TextRule = TextRule::line(320);

/// A business as the operator sees it.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BusinessView {
    id: BusinessId,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner_email: Option<String>,
    /// `active`, `inactive` or `suspended`.
    status: String,
    /// `required`, `requested`, `active` or `expired`.
    subscription: String,
    plan: Option<String>,
    requested_plan: Option<String>,
    /// `active` or `inactive`.
    live_access: &'static str,
    unlocked: bool,
    /// The open go-live items.
    missing: Vec<GoLiveItem>,
    /// Whether its closing has begun, or is completed.
    closing: bool,
    created_at: DateTime<Utc>,
}

#[utoipa::path(
    get,
    path = "/v1/operator/businesses",
    operation_id = "listBusinesses",
    tag = "Operator",
    summary = "List businesses, newest first",
    params(params::BusinessesParams),
    responses((status = 200, description = "A page of businesses.", body = internal_api::Page<BusinessInList>)),
)]
pub(crate) async fn list(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let (page, filter) = read_query(&request, |fields| {
        let filter = BusinessFilter {
            only: None,
            search: fields.text("search", SEARCH),
            status: fields.parsed("status", "active, inactive, suspended or closed"),
            subscription: fields.parsed("subscription", "required, requested, active or expired"),
            awaits_review: false,
            undecided: false,
        };
        (fields.page(), filter)
    })?;
    let page = PageRequest::new(page, "business")?;
    let rows = businesses::list(&state, page.limit, page.after, &filter).await?;
    let page = page.page(rows)?;
    let ids: Vec<BusinessId> = page.data.iter().map(|listed| listed.standing.business.id).collect();
    Sent::new("businesses", &ids).found_by(&state, filter.search.as_deref()).record(&request);
    let activity = businesses::activity_of(&state, &ids).await;
    let view = |listed: ListedBusiness| {
        let of = activity.get(&listed.standing.business.id).copied().unwrap_or_default();
        BusinessInList {
            business: BusinessView::of(listed.standing, Some(listed.owner_email)),
            closed: listed.closed,
            refused: listed.refused,
            asked_again: listed.asked_again,
            balance_paise: of.balance,
            recent_orders: of.recent_orders,
            last_order_at: of.last_order_at,
        }
    };
    Ok(HttpResponse::Ok().json(page.map(view)))
}

/// A business in the list.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BusinessInList {
    #[serde(flatten)]
    business: BusinessView,
    /// Whether its closing is completed. It keeps the status that it had.
    closed: bool,
    /// Whether its approval or live access was refused, and it has not asked again.
    refused: bool,
    /// Whether it asked again after a refusal.
    asked_again: bool,
    /// Null if the wallet's service does not answer.
    balance_paise: Option<Paise>,
    /// The live orders of the last 30 days; 5000 means 5,000 or more. Null if the orders' service does not answer.
    recent_orders: Option<i64>,
    /// When the latest live order was placed.
    last_order_at: Option<DateTime<Utc>>,
}

/// One business with further details.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct BusinessDetails {
    #[serde(flatten)]
    business: BusinessView,
    /// Whether its closing is completed. It keeps the status that it had.
    closed: bool,
    #[schema(value_type = bodies::PickupProfileView)]
    pickup_profile: Value,
    contact: ContactView,
    /// The last refusal of its approval or of live access, which it still waits for.
    refusal: Option<RefusalView>,
    /// The number of users.
    users: i64,
}

#[utoipa::path(
    get,
    path = "/v1/operator/businesses/{id}",
    operation_id = "readBusiness",
    tag = "Operator",
    summary = "Read a business",
    params(("id" = domain::BusinessId, Path, description = "The business.")),
    responses((status = 200, description = "The business.", body = BusinessDetails)),
)]
pub(crate) async fn read(state: Data<State>, business: Path<String>) -> Result<HttpResponse, ApiError> {
    let business = parse_business_id(&business)?;
    let found = businesses::with_users(&state, business).await?;
    let (listed, users) = found.ok_or_else(errors::business_not_found)?;
    let contact = contact::find(&state, business).await?.into();
    let refusal = refusal::find(&state, &listed.standing.business).await?.map(RefusalView::from);
    Ok(HttpResponse::Ok().json(BusinessDetails {
        pickup_profile: pickup_profile::view(listed.standing.pickup.clone()),
        business: BusinessView::of(listed.standing, Some(listed.owner_email)),
        closed: listed.closed,
        contact,
        refusal,
        users,
    }))
}

#[utoipa::path(
    patch,
    path = "/v1/operator/businesses/{id}",
    operation_id = "changeBusiness",
    tag = "Operator",
    summary = "Change the status, subscription or live access of a business",
    params(("id" = domain::BusinessId, Path, description = "The business.")),
    request_body = bodies::ChangeBusiness,
    responses(
        (status = 200, description = "The business.", body = BusinessView),
        (status = 202, description = "A second person must approve it first.", body = ApprovalView),
    ),
)]
pub(crate) async fn change(
    state: Data<State>,
    author: OperatorAuthor,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = parse_business_id(&business)?;
    let change = parse(&body.0)?;
    let changed = change_business(&state, business, &author.0, change).await;
    if let Some(approval) = changed.map_err(errors::change_business)? {
        return approval_view::requested(&state, &author.0, approval).await;
    }
    let standing = businesses::standing(&state, business).await?.ok_or_else(errors::business_not_found)?;
    Ok(HttpResponse::Ok().json(BusinessView::of(standing, None)))
}

fn parse(body: &Value) -> Result<BusinessChange, ApiError> {
    const SWITCHES: [&str; 3] = ["status", "subscription", "liveAccess"];
    read_object(body, |fields| {
        for name in fields.unknown(&[SWITCHES.as_slice(), &["plan", "reason"]].concat()) {
            fields.reject(&name, "unknown_field", format!("{name} cannot be changed here."));
        }
        if SWITCHES.iter().all(|name| fields.value(name).is_none()) {
            fields.reject("", "required", "Send at least one of status, subscription and liveAccess.");
        }
        let subscription_active = switch(fields, "subscription");
        let status = fields.optional_word::<BusinessStatus>("status", "active, inactive or suspended");
        let reason = fields.optional_text("reason", REASON);
        if reason.is_some() && status != Some(BusinessStatus::Suspended) {
            fields.reject(
                "reason",
                "invalid_value",
                "reason is only allowed together with status suspended.",
            );
        }
        Some(BusinessChange {
            plan: plan(body, fields, subscription_active),
            subscription_active,
            status,
            reason,
            live_access: switch(fields, "liveAccess"),
        })
    })
}

/// The plan that the operator expects to become active; `null` for none.
fn plan(body: &Value, fields: &Fields<'_>, subscription_active: Option<bool>) -> Option<Option<String>> {
    let given = body.get("plan")?;
    if subscription_active != Some(true) {
        fields.reject("plan", "invalid_value", "plan is only allowed together with subscription active.");
    }
    if given.is_null() { Some(None) } else { fields.required_text("plan", subscription::PLAN).map(Some) }
}

/// `active` or `inactive`.
fn switch(fields: &Fields<'_>, name: &str) -> Option<bool> {
    let words = "active or inactive";
    match fields.optional_word::<BusinessStatus>(name, words)? {
        BusinessStatus::Active => Some(true),
        BusinessStatus::Inactive => Some(false),
        BusinessStatus::Suspended => {
            fields.reject(name, "invalid_value", format!("{name} must be {words}."));
            None
        }
    }
}

impl BusinessView {
    pub(crate) fn of(standing: Standing, owner_email: Option<String>) -> Self {
        let missing = standing.missing();
        let business = standing.business;
        Self {
            id: business.id,
            name: business.name,
            owner_email,
            status: business.status.to_string(),
            subscription: business.subscription.state.to_string(),
            plan: business.subscription.plan,
            requested_plan: business.subscription.requested_plan,
            live_access: if business.live_access { "active" } else { "inactive" },
            unlocked: missing.is_empty(),
            missing,
            closing: standing.closing,
            created_at: business.created_at,
        }
    }
}

/// The id of an existing business.
pub(crate) async fn business_id(state: &State, text: &str) -> Result<BusinessId, ApiError> {
    Ok(named_business(state, text).await?.0)
}

/// The business with its name.
pub(crate) async fn named_business(state: &State, text: &str) -> Result<(BusinessId, String), ApiError> {
    let business = parse_business_id(text)?;
    let found = businesses::find(state, business).await?.ok_or_else(errors::business_not_found)?;
    Ok((business, found.name))
}

fn parse_business_id(text: &str) -> Result<BusinessId, ApiError> {
    text.parse().map_err(|_| errors::business_not_found())
}

//! `/v1/operator/businesses`: the operator lists, changes and credits businesses.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::{BusinessId, GoLiveItem, Paise};
use internal_api::wallet::CreditView;
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, FieldErrors, Fields, JsonBody, TextRule, read_query};

use super::approval_view::{self, ApprovalView};
use super::audited::{OperatorAuthor, audited};
use super::errors;
use super::openapi::{bodies, params};
use super::operator_records::Sent;
use super::pagination::PageRequest;
use super::subscription;
use crate::commands::audit::record_operator_request;
use crate::commands::change_business::change_business;
use crate::commands::record_go_live_fact::record_funding;
use crate::commands::request_approval::request_approval;
use crate::domain::{
    Action, ApprovalPolicy, AuditEvent, BusinessChange, BusinessFilter, BusinessStatus, ListedBusiness,
    ProtectedAction, Standing, Target, TargetKind,
};
use crate::queries::businesses;
use crate::state::State;

/// As long as an e-mail address may be.
const SEARCH: TextRule = TextRule::line(320);
/// The rule of wallet.
const REFERENCE: TextRule = TextRule::code(128);

/// A business as the operator sees it.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct BusinessView {
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
    created_at: DateTime<Utc>,
}

#[utoipa::path(
    get,
    path = "/v1/operator/businesses",
    operation_id = "listBusinesses",
    tag = "Operator",
    summary = "List businesses, newest first",
    params(params::BusinessesParams),
    responses((status = 200, description = "A page of businesses.", body = internal_api::Page<BusinessView>)),
)]
pub(super) async fn list(state: Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let (page, filter) = read_query(&request, |fields| {
        let filter = BusinessFilter {
            only: None,
            search: fields.text("search", SEARCH),
            status: fields.parsed("status", "active, inactive or suspended"),
            subscription: fields.parsed("subscription", "required, requested, active or expired"),
        };
        (fields.page(), filter)
    })?;
    let page = PageRequest::new(page, "business")?;
    let rows = businesses::list(&state, page.limit, page.after, &filter).await?;
    let page = page.page(rows)?;
    let businesses = page.data.iter().map(|listed| listed.standing.business.id);
    Sent::new("businesses", businesses).found_by(&state, filter.search.as_deref()).record(&request);
    let view = |listed: ListedBusiness| BusinessView::of(listed.standing, Some(listed.owner_email));
    Ok(HttpResponse::Ok().json(page.map(view)))
}

/// One business with further details.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct BusinessDetails {
    #[serde(flatten)]
    business: BusinessView,
    pickup_profile: ProfileState,
    /// The number of users.
    users: i64,
}

#[derive(Serialize, utoipa::ToSchema)]
struct ProfileState {
    complete: bool,
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
pub(super) async fn read(state: Data<State>, business: Path<String>) -> Result<HttpResponse, ApiError> {
    let found = businesses::with_users(&state, parse_business_id(&business)?).await?;
    let (listed, users) = found.ok_or_else(errors::business_not_found)?;
    Ok(HttpResponse::Ok().json(BusinessDetails {
        pickup_profile: ProfileState { complete: listed.standing.pickup.is_some() },
        business: BusinessView::of(listed.standing, Some(listed.owner_email)),
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
pub(super) async fn change(
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

/// Forwarded to wallet after a check that the business exists: wallet does not know businesses.
#[utoipa::path(
    post,
    path = "/v1/operator/businesses/{id}/wallet/credits",
    operation_id = "creditWallet",
    tag = "Operator",
    summary = "Credit a wallet",
    params(("id" = domain::BusinessId, Path, description = "The business.")),
    request_body = bodies::CreditWallet,
    responses(
        (status = 201, description = "The credit. Repeating the same reference and amount has no effect.", body = internal_api::wallet::CreditView),
        (status = 202, description = "A second person must approve it first.", body = ApprovalView),
    ),
)]
pub(super) async fn credit(
    state: Data<State>,
    author: OperatorAuthor,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&state, &business).await?;
    if let Some(action) = credit_to_approve(state.approvals, &body.0)? {
        let requested = request_approval(&state, business, &author.0, action).await;
        let approval = requested.map_err(errors::request_approval)?;
        return approval_view::requested(&state, &author.0, approval).await;
    }
    let requested = credit_requested(&body.0);
    record_operator_request(&state, business, &author.0, &requested).await?;
    let work = {
        let state = state.clone();
        async move {
            let credit = state.peers.wallet.credit(business, &body.0).await?;
            record_funding(&state, business, credit.amount_paise).await;
            Ok::<_, ApiError>(credit)
        }
    };
    let event = |credit: &CreditView| {
        AuditEvent::once(Action::WalletCredited, Target::new(TargetKind::Transfer, credit.transfer_id))
            .with("amountPaise", credit.amount_paise.get())
            .with("reference", credit.reference.as_str())
    };
    let credit = audited(&state, business, author.0, work, event).await?;
    tracing::info!(business_id = %business, transfer_id = %credit.transfer_id, "wallet credited by the operator");
    Ok(HttpResponse::Created().json(credit))
}

/// Also of a body that wallet refuses.
fn credit_requested(body: &Value) -> AuditEvent {
    let event = AuditEvent::new(Action::WalletCreditRequested);
    let event = match body["amountPaise"].as_i64() {
        Some(amount) => event.with("amountPaise", amount),
        None => event,
    };
    let reference = body["reference"].as_str().and_then(|text| REFERENCE.check(text).ok().flatten());
    match reference {
        Some(reference) => event.with("reference", reference),
        None => event,
    }
}

/// The credit, if it needs an approval. With approvals, an invalid body is refused here: wallet must not accept what this
/// check could not read.
fn credit_to_approve(policy: ApprovalPolicy, body: &Value) -> Result<Option<ProtectedAction>, ApiError> {
    if policy.credits_above.is_none() {
        return Ok(None);
    }
    let field_errors = FieldErrors::default();
    let credit = Fields::only(body, &field_errors, &["amountPaise", "reference"]).and_then(|fields| {
        let amount = fields.required_integer("amountPaise", 1, Paise::REQUEST_MAX.get()).map(Paise::new);
        let reference = fields.required_text("reference", REFERENCE);
        Some((amount?, reference?))
    });
    let (amount_paise, reference) = match credit {
        Some(credit) if field_errors.is_empty() => credit,
        _ => return Err(ApiError::invalid(field_errors)),
    };
    let needs_approval = policy.covers_credit(amount_paise);
    Ok(needs_approval.then_some(ProtectedAction::Credit { amount_paise, reference }))
}

fn parse(body: &Value) -> Result<BusinessChange, ApiError> {
    const SWITCHES: [&str; 3] = ["status", "subscription", "liveAccess"];
    let field_errors = FieldErrors::default();
    let change = Fields::of_body(body, &field_errors).map(|fields| {
        for name in fields.unknown(&[SWITCHES.as_slice(), &["plan"]].concat()) {
            field_errors.add(&name, "unknown_field", format!("{name} cannot be changed here."));
        }
        if SWITCHES.iter().all(|name| fields.value(name).is_none()) {
            field_errors.add("", "required", "Send at least one of status, subscription and liveAccess.");
        }
        let subscription_active = switch(&fields, "subscription");
        BusinessChange {
            plan: plan(body, &fields, subscription_active),
            subscription_active,
            status: fields.optional_word::<BusinessStatus>("status", "active, inactive or suspended"),
            live_access: switch(&fields, "liveAccess"),
        }
    });
    match change {
        Some(change) if field_errors.is_empty() => Ok(change),
        _ => Err(ApiError::invalid(field_errors)),
    }
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
    pub(super) fn of(standing: Standing, owner_email: Option<String>) -> Self {
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
            created_at: business.created_at,
        }
    }
}

/// The id of an existing business.
pub(super) async fn business_id(state: &State, text: &str) -> Result<BusinessId, ApiError> {
    let business = parse_business_id(text)?;
    businesses::find(state, business).await?.ok_or_else(errors::business_not_found)?;
    Ok(business)
}

fn parse_business_id(text: &str) -> Result<BusinessId, ApiError> {
    text.parse().map_err(|_| errors::business_not_found())
}

//! `/v1/operator/businesses`: the operator lists, approves and funds businesses.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use domain::{BusinessId, GoLiveItem};
use internal_api::wallet::CreditView;
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, FieldErrors, Fields, JsonBody, TextRule, read_query};

use super::author::{ByOperator, acted};
use super::errors;
use super::lists::Wanted;
use super::openapi::{bodies, params};
use super::subscription;
use super::wallet::note_funded;
use crate::app::App;
use crate::commands::change_business::{Change, change_business};
use crate::domain::{Act, Action, BusinessStatus, Standing, Target, TargetKind};
use crate::store::businesses::{self, BusinessFilter};
use crate::store::users;

/// As long as an e-mail may be.
const SEARCH: TextRule = TextRule::line(320);

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
pub(super) async fn list(app: Data<App>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let (page, filter) = read_query(&request, |fields| {
        let filter = BusinessFilter {
            only: None,
            search: fields.text("search", SEARCH),
            status: fields.parsed("status", "active, inactive or suspended"),
            subscription: fields.parsed("subscription", "required, requested, active or expired"),
        };
        (fields.page(), filter)
    })?;
    let wanted = Wanted::of(page, "business")?;
    let (limit, after) = (wanted.limit, wanted.after);
    let read = app.database.read(async |conn| businesses::list(conn, limit, after, &filter).await).await;
    let page = wanted.page(read)?;
    let page = page.map(|listed| BusinessView::of(listed.standing, Some(listed.owner_email)));
    Ok(HttpResponse::Ok().json(page))
}

/// One business, with what is known of it besides.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct BusinessDetails {
    #[serde(flatten)]
    business: BusinessView,
    pickup_profile: ProfileState,
    /// How many people log in for it.
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
pub(super) async fn read(app: Data<App>, business: Path<String>) -> Result<HttpResponse, ApiError> {
    let business: BusinessId = business.parse().map_err(|_| errors::business_not_found())?;
    let only = BusinessFilter { only: Some(business), ..BusinessFilter::default() };
    let read: Result<_, postgres::StoreError> = app
        .database
        .read(async |conn| {
            let listed = businesses::list(conn, 1, None, &only).await?.and_then(|mut found| found.pop());
            Ok((listed, users::count(conn, business).await?))
        })
        .await;
    let (listed, users) = read.map_err(errors::store)?;
    let listed = listed.ok_or_else(errors::business_not_found)?;
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
    summary = "Approve, suspend, subscribe or open a business",
    params(("id" = domain::BusinessId, Path, description = "The business.")),
    request_body = bodies::ChangeBusiness,
    responses((status = 200, description = "The business.", body = BusinessView)),
)]
pub(super) async fn change(
    app: Data<App>,
    author: ByOperator,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = parse_business_id(&business)?;
    let change = parse(&body.0)?;
    change_business(&app, business, &author.0, change).await.map_err(errors::change_business)?;
    let read = app.database.read(async |conn| businesses::standing(conn, business).await).await;
    let standing = read.map_err(errors::store)?.ok_or_else(errors::business_not_found)?;
    Ok(HttpResponse::Ok().json(BusinessView::of(standing, None)))
}

/// Passed on to wallet, which knows no businesses: that this is one is decided here.
#[utoipa::path(
    post,
    path = "/v1/operator/businesses/{id}/wallet/credits",
    operation_id = "creditWallet",
    tag = "Operator",
    summary = "Credit a wallet",
    params(("id" = domain::BusinessId, Path, description = "The business.")),
    request_body = bodies::CreditWallet,
    responses((status = 201, description = "The credit; the same reference and amount again moves nothing.", body = internal_api::wallet::CreditView)),
)]
pub(super) async fn credit(
    app: Data<App>,
    author: ByOperator,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&app, &business).await?;
    let work = {
        let app = app.clone();
        async move {
            let credit = app.peers.wallet.credit(business, &body.0).await?;
            note_funded(&app, business, credit.amount_paise).await;
            Ok::<_, ApiError>(credit)
        }
    };
    let act = |credit: &CreditView| {
        Act::once(Action::WalletCredited, Target::new(TargetKind::Transfer, credit.transfer_id))
            .with("amountPaise", credit.amount_paise.get())
    };
    let credit = acted(&app, business, author.0, work, act).await?;
    tracing::info!(business_id = %business, transfer_id = %credit.transfer_id, "the operator credited a wallet");
    Ok(HttpResponse::Created().json(credit))
}

fn parse(body: &Value) -> Result<Change, ApiError> {
    const SWITCHES: [&str; 3] = ["status", "subscription", "liveAccess"];
    let field_errors = FieldErrors::default();
    let change = Fields::of_body(body, &field_errors).map(|fields| {
        for name in fields.unknown(&[SWITCHES.as_slice(), &["plan"]].concat()) {
            field_errors.add(&name, "unknown_field", format!("{name} cannot be changed here."));
        }
        if SWITCHES.iter().all(|name| fields.value(name).is_none()) {
            field_errors.add("", "required", "Give at least one of status, subscription and liveAccess.");
        }
        let subscription_active = switch(&fields, "subscription");
        Change {
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

/// The plan that is meant to become active; `null` for none.
fn plan(body: &Value, fields: &Fields<'_>, subscription_active: Option<bool>) -> Option<Option<String>> {
    let given = body.get("plan")?;
    if subscription_active != Some(true) {
        fields.reject(
            "plan",
            "invalid_value",
            "plan says what becomes active: it is taken with subscription active alone.",
        );
    }
    if given.is_null() { Some(None) } else { fields.required_text("plan", subscription::PLAN).map(Some) }
}

/// `active` or `inactive`.
fn switch(fields: &Fields<'_>, name: &str) -> Option<bool> {
    let wanted = "active or inactive";
    match fields.optional_word::<BusinessStatus>(name, wanted)? {
        BusinessStatus::Active => Some(true),
        BusinessStatus::Inactive => Some(false),
        BusinessStatus::Suspended => {
            fields.reject(name, "invalid_value", format!("{name} must be {wanted}."));
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

/// The id of a business that there is.
pub(super) async fn business_id(app: &App, text: &str) -> Result<BusinessId, ApiError> {
    let business = parse_business_id(text)?;
    let read = app.database.read(async |conn| businesses::find(conn, business).await).await;
    read.map_err(errors::store)?.ok_or_else(errors::business_not_found)?;
    Ok(business)
}

fn parse_business_id(text: &str) -> Result<BusinessId, ApiError> {
    text.parse().map_err(|_| errors::business_not_found())
}

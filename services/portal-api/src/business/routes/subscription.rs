//! `GET`, `PUT /v1/portal/subscription`: reads the subscription, and requests a plan.

use actix_web::HttpResponse;
use actix_web::web::{Data, ReqData};
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, JsonBody, TextRule, read_body};

use crate::business::commands::request_subscription::request_subscription;
use crate::business::domain::Subscription;
use crate::business::queries::businesses;
use crate::domain::Session;
use crate::http::audited::UserAuthor;
use crate::http::errors;
use crate::http::openapi::bodies;
use crate::state::State;

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct SubscriptionView<'a> {
    /// `required`, `requested`, `active` or `expired`.
    status: String,
    plan: Option<&'a str>,
    requested_plan: Option<&'a str>,
    /// The available plans.
    plans: &'a [String],
}

#[utoipa::path(
    get,
    path = "/v1/portal/subscription",
    operation_id = "readSubscription",
    tag = "Subscription",
    summary = "Read the subscription",
    responses((status = 200, description = "The subscription.", body = SubscriptionView)),
)]
pub(crate) async fn read(state: Data<State>, session: ReqData<Session>) -> Result<HttpResponse, ApiError> {
    let business =
        businesses::find(&state, session.business).await?.ok_or_else(errors::business_not_found)?;
    Ok(respond(&state, &business.subscription))
}

#[utoipa::path(
    put,
    path = "/v1/portal/subscription",
    operation_id = "requestSubscription",
    tag = "Subscription",
    summary = "Request a plan",
    request_body = bodies::RequestSubscription,
    responses((status = 200, description = "The subscription.", body = SubscriptionView)),
)]
pub(crate) async fn request(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let plan = parse(&body.0, &state.plans)?;
    let requested = request_subscription(&state, session.business, &author.0, &plan).await;
    let subscription = requested?;
    Ok(respond(&state, &subscription.ok_or_else(errors::business_not_found)?))
}

fn respond(state: &State, subscription: &Subscription) -> HttpResponse {
    HttpResponse::Ok().json(SubscriptionView {
        status: subscription.state.to_string(),
        plan: subscription.plan.as_deref(),
        requested_plan: subscription.requested_plan.as_deref(),
        plans: &state.plans,
    })
}

/// The name of a plan.
pub(crate) const PLAN: TextRule = TextRule::line(64);

fn parse(body: &Value, plans: &[String]) -> Result<String, ApiError> {
    read_body(body, &["plan"], |fields| {
        let plan = fields.required_text("plan", PLAN)?;
        if !plans.contains(&plan) {
            fields.reject("plan", "invalid_value", format!("plan must be one of: {}.", plans.join(", ")));
        }
        Some(plan)
    })
}

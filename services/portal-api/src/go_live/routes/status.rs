//! `GET /v1/portal/status`: the indicators, the go-live checklist, and recommended tests.

use actix_web::HttpResponse;
use actix_web::web::{Data, ReqData};
use chrono::{DateTime, Utc};
use domain::{GoLiveFacts, GoLiveItem};
use serde::Serialize;
use strum::VariantArray;
use web::ApiError;

use crate::business::domain::DoneSince;
use crate::domain::Session;
use crate::go_live::domain::Advice;
use crate::go_live::domain::indicators::{Indicators, Label};
use crate::go_live::queries::status::{self, Status};
use crate::http::errors;
use crate::state::State;

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct StatusView {
    indicators: IndicatorsView,
    go_live: GoLiveView,
    /// Whether its closing has begun, or is completed: it cannot go live.
    closing: bool,
    /// Shown next to the go-live checklist. Does not lock live orders.
    advice: Vec<AdviceView>,
    /// The services that did not answer. Their values are `Unknown` or not done.
    incomplete: Vec<&'static str>,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IndicatorsView {
    test_api: IndicatorView,
    live_api: IndicatorView,
    connection_test: IndicatorView,
    webhook: IndicatorView,
    webhook_connection_test: IndicatorView,
    wallet: IndicatorView,
    subscription: IndicatorView,
}

#[derive(Serialize, utoipa::ToSchema)]
struct IndicatorView {
    code: String,
    label: &'static str,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct AdviceView {
    /// `duplicate_retry_tested`, `failure_retry_tested` or `webhook_verified`.
    code: &'static str,
    label: &'static str,
    done: bool,
    at: Option<DateTime<Utc>>,
    /// The ids of the requests that prove it; for `webhook_verified`, of the events that were sent.
    request_ids: Vec<String>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct GoLiveView {
    unlocked: bool,
    items: Vec<ItemView>,
}

#[derive(Serialize, utoipa::ToSchema)]
struct ItemView {
    code: &'static str,
    label: &'static str,
    done: bool,
    /// When it was completed, if known; null while it is open.
    at: Option<DateTime<Utc>>,
}

#[utoipa::path(
    get,
    path = "/v1/portal/status",
    operation_id = "readStatus",
    tag = "Overview",
    summary = "Read the status indicators and the go-live checklist",
    responses((status = 200, description = "The status of the business.", body = StatusView)),
)]
pub(crate) async fn status(state: Data<State>, session: ReqData<Session>) -> Result<HttpResponse, ApiError> {
    let found = status::status(&state, session.business).await?;
    let status = found.ok_or_else(errors::business_not_found)?;
    Ok(HttpResponse::Ok().json(StatusView::from(status)))
}

impl From<Status> for StatusView {
    fn from(status: Status) -> Self {
        Self {
            indicators: status.indicators.into(),
            go_live: GoLiveView::of(status.go_live, status.done_since),
            closing: status.closing,
            advice: status.advice.into_iter().map(AdviceView::from).collect(),
            incomplete: status.incomplete,
        }
    }
}

impl From<Indicators> for IndicatorsView {
    fn from(indicators: Indicators) -> Self {
        Self {
            test_api: indicators.test_api.into(),
            live_api: indicators.live_api.into(),
            connection_test: indicators.connection_test.into(),
            webhook: indicators.webhook.into(),
            webhook_connection_test: indicators.webhook_connection_test.into(),
            wallet: indicators.wallet.into(),
            subscription: indicators.subscription.into(),
        }
    }
}

impl From<Advice> for AdviceView {
    fn from(advice: Advice) -> Self {
        let (at, request_ids) = advice.proof.map(|proof| (proof.at, proof.ids)).unzip();
        Self {
            code: advice.code,
            label: advice.label,
            done: at.is_some(),
            at,
            request_ids: request_ids.unwrap_or_default(),
        }
    }
}

impl From<Label> for IndicatorView {
    fn from(label: Label) -> Self {
        Self { code: label.code(), label: label.0 }
    }
}

impl GoLiveView {
    pub(crate) fn of(facts: GoLiveFacts, since: DoneSince) -> Self {
        let item = |item: &GoLiveItem| ItemView {
            code: item.as_str(),
            label: item.label(),
            done: facts.is_done(*item),
            at: since.of(*item).filter(|_| facts.is_done(*item)),
        };
        Self { unlocked: facts.missing().is_empty(), items: GoLiveItem::VARIANTS.iter().map(item).collect() }
    }
}

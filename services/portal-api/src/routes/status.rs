//! `GET /v1/portal/status`: the indicators and the go-live list.

use actix_web::HttpResponse;
use actix_web::web::{Data, ReqData};
use domain::{GoLiveFacts, GoLiveItem};
use serde::Serialize;
use strum::VariantArray;
use web::ApiError;

use super::errors;
use crate::app::App;
use crate::domain::Session;
use crate::domain::indicators::Label;
use crate::queries::status::{self, Status};

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct StatusView {
    indicators: IndicatorsView,
    go_live: GoLiveView,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct IndicatorsView {
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
struct GoLiveView {
    unlocked: bool,
    items: Vec<ItemView>,
}

#[derive(Serialize, utoipa::ToSchema)]
struct ItemView {
    code: &'static str,
    label: &'static str,
    done: bool,
}

#[utoipa::path(
    get,
    path = "/v1/portal/status",
    operation_id = "readStatus",
    tag = "Overview",
    summary = "The status indicators and the go-live list",
    responses((status = 200, description = "How things stand.", body = StatusView)),
)]
pub(super) async fn status(app: Data<App>, session: ReqData<Session>) -> Result<HttpResponse, ApiError> {
    let found = status::status(&app, session.business).await.map_err(errors::status)?;
    let status = found.ok_or_else(errors::business_not_found)?;
    Ok(HttpResponse::Ok().json(StatusView::from(status)))
}

impl From<Status> for StatusView {
    fn from(status: Status) -> Self {
        Self {
            indicators: IndicatorsView {
                test_api: status.test_api.into(),
                live_api: status.live_api.into(),
                connection_test: status.connection_test.into(),
                webhook: status.webhook.into(),
                webhook_connection_test: status.webhook_connection_test.into(),
                wallet: status.wallet.into(),
                subscription: status.subscription.into(),
            },
            go_live: status.go_live.into(),
        }
    }
}

impl From<Label> for IndicatorView {
    fn from(label: Label) -> Self {
        Self { code: label.code(), label: label.0 }
    }
}

impl From<GoLiveFacts> for GoLiveView {
    fn from(facts: GoLiveFacts) -> Self {
        let item = |item: &GoLiveItem| ItemView {
            code: item.as_str(),
            label: item.label(),
            done: facts.is_done(*item),
        };
        Self { unlocked: facts.missing().is_empty(), items: GoLiveItem::VARIANTS.iter().map(item).collect() }
    }
}

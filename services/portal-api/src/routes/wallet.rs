//! `/v1/portal/wallet`: passed on to wallet. A top-up is a go-live fact, noted at once.

use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use domain::{BusinessId, Paise};
use internal_api::wallet::{TopUpView, WalletView};
use web::{ApiError, JsonBody, idempotency_key};

use super::author::{ByUser, acted};
use super::openapi::{bodies, params};
use crate::app::App;
use crate::commands::record_fact::{Fact, record_fact};
use crate::domain::{Act, Action, Session, Target, TargetKind};

#[utoipa::path(
    get,
    path = "/v1/portal/wallet",
    operation_id = "readWallet",
    tag = "Wallet",
    summary = "The balance",
    responses((status = 200, description = "The wallet.", body = internal_api::wallet::WalletView)),
)]
pub(super) async fn read(app: Data<App>, session: ReqData<Session>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(app.peers.wallet.wallet(session.business).await?))
}

/// Wallet judges the query, which it knows.
#[utoipa::path(
    get,
    path = "/v1/portal/wallet/spend",
    operation_id = "readSpend",
    tag = "Wallet",
    summary = "What delivery fees cost, day by day",
    params(params::SpendParams),
    responses((status = 200, description = "Every day, oldest first.", body = internal_api::wallet::SpendView)),
)]
pub(super) async fn spend(
    app: Data<App>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(app.peers.wallet.spend(session.business, request.query_string()).await?))
}

/// `{thresholdPaise}`: below it the business hears of its balance; `null` goes back to the operator's default.
#[utoipa::path(
    put,
    path = "/v1/portal/wallet/threshold",
    operation_id = "setThreshold",
    tag = "Wallet",
    summary = "Say below which balance to be warned",
    request_body = bodies::SetThreshold,
    responses((status = 200, description = "The wallet.", body = internal_api::wallet::WalletView)),
)]
pub(super) async fn set_threshold(
    app: Data<App>,
    session: ReqData<Session>,
    author: ByUser,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (business, wallet) = (session.business, app.peers.wallet.clone());
    let call = async move { Ok(wallet.set_threshold(business, &body.0).await?) };
    let act = move |set: &WalletView| {
        Act::new(Action::WalletThresholdChanged)
            .on(Target::new(TargetKind::Business, business))
            .with("thresholdPaise", set.low_balance_threshold_paise.get())
    };
    let set = acted(&app, business, author.0, call, act).await?;
    tracing::info!(business_id = %business, user_id = %session.user, "a wallet's threshold was set");
    Ok(HttpResponse::Ok().json(set))
}

/// How a top-up stands: the page looks here while the provider collects.
#[utoipa::path(
    get,
    path = "/v1/portal/wallet/top-ups/{id}",
    operation_id = "readTopUp",
    tag = "Wallet",
    summary = "How a top-up stands",
    params(("id" = domain::TopUpId, Path, description = "The top-up.")),
    responses((status = 200, description = "The top-up.", body = internal_api::wallet::TopUpView)),
)]
pub(super) async fn find_top_up(
    app: Data<App>,
    session: ReqData<Session>,
    top_up: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let id = top_up.parse().map_err(|_| ApiError::not_found("top_up_not_found", "top-up"))?;
    Ok(HttpResponse::Ok().json(app.peers.wallet.find_top_up(session.business, id).await?))
}

#[utoipa::path(
    post,
    path = "/v1/portal/wallet/top-ups",
    operation_id = "topUp",
    tag = "Wallet",
    summary = "Top up through the payment provider",
    params(params::IdempotencyParams),
    request_body = bodies::TopUp,
    responses((status = 201, description = "The top-up.", body = internal_api::wallet::TopUpView)),
)]
pub(super) async fn top_up(
    app: Data<App>,
    session: ReqData<Session>,
    author: ByUser,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = session.business;
    let key = idempotency_key(request.headers())?;
    let work = {
        let app = app.clone();
        async move {
            let top_up = app.peers.wallet.top_up(business, key.as_deref(), &body.0).await?;
            if top_up.status == "succeeded" {
                note_funded(&app, business, top_up.balance_paise).await;
            }
            Ok::<_, ApiError>(top_up)
        }
    };
    let act = |top_up: &TopUpView| {
        Act::once(Action::WalletToppedUp, Target::new(TargetKind::TopUp, top_up.id))
            .with("amountPaise", top_up.amount_paise.get())
            .with("status", top_up.status.as_str())
    };
    // Money does not stop half-way because a page was closed.
    let top_up = acted(&app, business, author.0, work, act).await?;
    tracing::info!(business_id = %business, user_id = %session.user, top_up_id = %top_up.id, status = top_up.status, "a top-up");
    Ok(HttpResponse::Created().json(top_up))
}

/// The money is there, so the call has succeeded whatever happens here: the event of it tells us again.
pub(super) async fn note_funded(app: &App, business: BusinessId, balance: Paise) {
    if balance <= Paise::ZERO {
        return;
    }
    if let Err(error) = record_fact(app, business, Fact::WalletFunded, app.clock.now()).await {
        tracing::warn!(%error, business_id = %business, "that a wallet is funded is left for its event to tell");
    }
}

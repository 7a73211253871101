//! `/v1/portal/wallet`: forwarded to wallet. A top-up is a go-live fact, which is recorded immediately.

use actix_web::web::{Data, Path, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use internal_api::wallet::{TopUpView, WalletView};
use web::{ApiError, JsonBody, idempotency_key};

use crate::audit::domain::{Action, AuditEvent, Target, TargetKind};
use crate::domain::Session;
use crate::go_live::commands::record_go_live_fact::record_funding;
use crate::http::audited::{UserAuthor, audited};
use crate::http::openapi::{bodies, params};
use crate::state::State;

#[utoipa::path(
    get,
    path = "/v1/portal/wallet",
    operation_id = "readWallet",
    tag = "Wallet",
    summary = "Read the wallet",
    responses((status = 200, description = "The wallet.", body = internal_api::wallet::WalletView)),
)]
pub(crate) async fn read(state: Data<State>, session: ReqData<Session>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(state.peers.wallet.wallet(session.business).await?))
}

/// wallet validates the query.
#[utoipa::path(
    get,
    path = "/v1/portal/wallet/spend",
    operation_id = "readSpend",
    tag = "Wallet",
    summary = "Read the delivery fees per day",
    params(params::SpendParams),
    responses((status = 200, description = "All days, oldest first.", body = internal_api::wallet::SpendView)),
)]
pub(crate) async fn spend(
    state: Data<State>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(state.peers.wallet.spend(session.business, request.query_string()).await?))
}

/// `{thresholdPaise}`: the business is warned below this balance. `null` restores the operator's default.
#[utoipa::path(
    put,
    path = "/v1/portal/wallet/threshold",
    operation_id = "setThreshold",
    tag = "Wallet",
    summary = "Set the balance for low-balance warnings",
    request_body = bodies::SetThreshold,
    responses((status = 200, description = "The wallet.", body = internal_api::wallet::WalletView)),
)]
pub(crate) async fn set_threshold(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (business, wallet) = (session.business, state.peers.wallet.clone());
    let call = async move { Ok(wallet.set_threshold(business, &body.0).await?) };
    let event = move |set: &WalletView| {
        AuditEvent::new(Action::WalletThresholdChanged)
            .on(Target::new(TargetKind::Business, business))
            .with("thresholdPaise", set.low_balance_threshold_paise.get())
    };
    let set = audited(&state, business, author.0, call, event).await?;
    tracing::info!(business_id = %business, user_id = %session.user, "low-balance threshold set");
    Ok(HttpResponse::Ok().json(set))
}

#[utoipa::path(
    get,
    path = "/v1/portal/wallet/top-ups",
    operation_id = "listPendingTopUps",
    tag = "Wallet",
    summary = "List the top-ups that wait for their payment, oldest first",
    description = "At most 5: a sixth top-up is refused (409 `too_many_pending_top_ups`).",
    responses((status = 200, description = "All of them.", body = internal_api::Page<internal_api::wallet::TopUpView>)),
)]
pub(crate) async fn pending_top_ups(
    state: Data<State>,
    session: ReqData<Session>,
) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(state.peers.wallet.pending_top_ups(session.business).await?))
}

/// The page polls this while the provider collects the payment.
#[utoipa::path(
    get,
    path = "/v1/portal/wallet/top-ups/{id}",
    operation_id = "readTopUp",
    tag = "Wallet",
    summary = "Read a top-up",
    params(("id" = domain::TopUpId, Path, description = "The top-up.")),
    responses((status = 200, description = "The top-up.", body = internal_api::wallet::TopUpView)),
)]
pub(crate) async fn find_top_up(
    state: Data<State>,
    session: ReqData<Session>,
    top_up: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let id = top_up.parse().map_err(|_| ApiError::not_found("top_up_not_found", "top-up"))?;
    Ok(HttpResponse::Ok().json(state.peers.wallet.find_top_up(session.business, id).await?))
}

#[utoipa::path(
    post,
    path = "/v1/portal/wallet/top-ups",
    operation_id = "topUp",
    tag = "Wallet",
    summary = "Top up through the payment provider",
    description = "Once the completion of a closing has begun: 409 `closing_ends`, and after it `business_closed`.",
    params(params::IdempotencyParams),
    request_body = bodies::TopUp,
    responses((status = 201, description = "The top-up.", body = internal_api::wallet::TopUpView)),
)]
pub(crate) async fn top_up(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = session.business;
    let key = idempotency_key(request.headers())?;
    let work = {
        let state = state.clone();
        async move {
            let top_up = state.peers.wallet.top_up(business, key.as_deref(), &body.0).await?;
            if top_up.status == "succeeded" {
                record_funding(&state, business, top_up.balance_paise).await;
            }
            Ok::<_, ApiError>(top_up)
        }
    };
    let event = |top_up: &TopUpView| {
        AuditEvent::once(Action::WalletToppedUp, Target::new(TargetKind::TopUp, top_up.id))
            .with("amountPaise", top_up.amount_paise.get())
            .with("status", top_up.status.as_str())
    };
    // Continues when the client disconnects, so that no payment is left half-recorded.
    let top_up = audited(&state, business, author.0, work, event).await?;
    tracing::info!(business_id = %business, user_id = %session.user, top_up_id = %top_up.id, status = top_up.status, "top-up started");
    Ok(HttpResponse::Created().json(top_up))
}

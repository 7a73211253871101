//! `/v1/portal/wallet`: passed on to wallet. A top-up is a go-live fact, noted at once.

use actix_web::web::{Data, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use domain::{BusinessId, Paise};
use internal_api::wallet::EntriesQuery;
use web::{ApiError, JsonBody, idempotency_key, page_query};

use crate::app::App;
use crate::commands::record_fact::{Fact, record_fact};
use crate::domain::Session;

pub(super) async fn read(app: Data<App>, session: ReqData<Session>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(app.peers.wallet.wallet(session.business).await?))
}

pub(super) async fn entries(
    app: Data<App>,
    session: ReqData<Session>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let page = page_query(&request)?;
    let query = EntriesQuery {
        limit: Some(page.limit),
        starting_after: page.starting_after,
        ..EntriesQuery::default()
    };
    Ok(HttpResponse::Ok().json(app.peers.wallet.entries(session.business, &query).await?))
}

pub(super) async fn top_up(
    app: Data<App>,
    session: ReqData<Session>,
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
    // Money does not stop half-way because a page was closed.
    let top_up = app.tasks.run(work).await??;
    tracing::info!(business_id = %business, user_id = %session.user, top_up_id = %top_up.id, "a wallet was topped up");
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

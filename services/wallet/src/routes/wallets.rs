//! `GET /internal/wallets/{business}` and `PUT …/threshold`.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::Paise;
use internal_api::wallet::WalletView;
use serde_json::Value;
use web::{ApiError, FieldErrors, Fields, JsonBody, Tasks};

use super::path;
use crate::commands::set_threshold;
use crate::domain::CURRENCY;
use crate::queries;
use crate::queries::wallets::WalletRecord;
use crate::state::State;

pub(super) async fn show(state: Data<State>, business: Path<String>) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let found = queries::wallets::find(&state, business).await?;
    Ok(HttpResponse::Ok().json(view(&state, found)))
}

pub(super) async fn set_threshold(
    state: Data<State>,
    tasks: Data<Tasks>,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let threshold = read_threshold(&body.0)?;
    let shared = state.clone().into_inner();
    let work = async move { set_threshold::set_threshold(&shared, business, threshold).await };
    tasks.run(work).await??;
    let found = queries::wallets::find(&state, business).await?;
    Ok(HttpResponse::Ok().json(view(&state, found)))
}

/// `{thresholdPaise}`; an explicit `null` restores the operator's default.
fn read_threshold(body: &Value) -> Result<Option<Paise>, ApiError> {
    let field_errors = FieldErrors::default();
    let threshold = Fields::only(body, &field_errors, &["thresholdPaise"]).and_then(|fields| {
        if body.get("thresholdPaise").is_none() {
            return fields.missing("thresholdPaise");
        }
        fields.optional_integer("thresholdPaise", 0, Paise::REQUEST_MAX.get())
    });
    if field_errors.is_empty() { Ok(threshold.map(Paise::new)) } else { Err(ApiError::invalid(field_errors)) }
}

fn view(state: &State, found: Option<(WalletRecord, Paise)>) -> WalletView {
    let (record, owed) = found.unzip();
    let threshold = record.and_then(|record| record.low_balance_threshold);
    WalletView {
        balance_paise: record.map(|record| record.wallet.balance).unwrap_or_default(),
        owed_paise: owed.unwrap_or_default(),
        currency: CURRENCY.into(),
        funded_at: record.and_then(|record| record.funded_at),
        low_balance_threshold_paise: threshold.unwrap_or(state.default_threshold),
    }
}

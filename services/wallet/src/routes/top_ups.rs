//! `POST` and `GET /internal/wallets/{business}/top-ups`, and `GET …/top-ups/{id}`.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use domain::Paise;
use internal_api::Page;
use internal_api::wallet::{CheckoutView, TopUpView};
use web::{ApiError, FieldErrors, Fields, JsonBody, Tasks, idempotency_key};

use super::credits::amount;
use super::{errors, path};
use crate::commands::top_up::{TopUpRequest, top_up};
use crate::domain::{CURRENCY, Status, TopUp};
use crate::queries;
use crate::state::State;

pub(super) async fn create(
    state: Data<State>,
    tasks: Data<Tasks>,
    business: Path<String>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let idempotency_key = idempotency_key(request.headers())?;
    let field_errors = FieldErrors::default();
    let fields = Fields::only(&body.0, &field_errors, &["amountPaise"]);
    let amount = match fields.and_then(|fields| amount(&fields)) {
        Some(amount) if field_errors.is_empty() => amount,
        _ => return Err(ApiError::invalid(field_errors)),
    };
    let wanted = TopUpRequest { business, amount, idempotency_key };
    let shared = state.clone().into_inner();
    let outcome = tasks.run(async move { top_up(&shared, wanted).await }).await?;
    let (top_up, balance) = outcome.map_err(errors::from_top_up)?;
    Ok(HttpResponse::Created().json(view(&state, top_up, balance)))
}

pub(super) async fn show(state: Data<State>, path: Path<(String, String)>) -> Result<HttpResponse, ApiError> {
    let (business, id) = path::top_up(&path)?;
    let found = queries::top_ups::find(&state, business, id).await?;
    let (top_up, balance) = found.ok_or_else(errors::top_up_not_found)?;
    Ok(HttpResponse::Ok().json(view(&state, top_up, balance)))
}

/// Top-ups whose payment is pending. They fit on one page.
pub(super) async fn pending(state: Data<State>, business: Path<String>) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let (pending, balance) = queries::top_ups::pending(&state, business).await?;
    let data = pending.into_iter().map(|top_up| view(&state, top_up, balance)).collect();
    Ok(HttpResponse::Ok().json(Page::<TopUpView> { data, has_more: false }))
}

fn view(state: &State, top_up: TopUp, balance: Paise) -> TopUpView {
    let open = top_up.status == Status::Pending && top_up.provider == state.provider.name();
    let checkout = if open { state.provider.checkout(&top_up) } else { None };
    TopUpView {
        id: top_up.id,
        amount_paise: top_up.amount,
        status: top_up.status.as_str().into(),
        provider: top_up.provider.to_string(),
        balance_paise: balance,
        created_at: top_up.created_at,
        checkout: checkout.map(|checkout| CheckoutView {
            key_id: checkout.key_id,
            order_id: checkout.order_id,
            amount_paise: checkout.amount,
            currency: CURRENCY.into(),
        }),
    }
}

//! `POST /internal/wallets/{business}/top-ups`, `GET …/top-ups/{id}` and `POST …/credits`.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use domain::Paise;
use internal_api::wallet::{CheckoutView, CreditView, TopUpView};
use postgres::StoreError;
use web::{ApiError, FieldErrors, Fields, JsonBody, TextRule, idempotency_key};

use super::{errors, path};
use crate::commands::{credit, top_up};
use crate::domain::{CURRENCY, Status, TopUp};
use crate::state::State;

/// Long enough for any invoice number. As of an order, two references that look alike are the same one: nothing invisible
/// may stand in them.
const REFERENCE: TextRule = TextRule::code(128);

pub(super) async fn top_up(
    state: Data<State>,
    business: Path<String>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let idempotency_key = idempotency_key(request.headers())?;
    let field_errors = FieldErrors::default();
    let amount = Fields::of_body(&body.0, &field_errors).and_then(|fields| amount(&fields));
    let Some(amount) = amount else { return Err(ApiError::invalid(field_errors)) };
    let state = state.into_inner();
    let tasks = state.tasks.clone();
    let wanted = top_up::Wanted { business, amount, idempotency_key };
    let work = async move {
        let (top_up, balance) = top_up::top_up(&state, wanted).await?;
        Ok(view(&state, top_up, balance))
    };
    let shown = tasks.run(work).await?.map_err(errors::from_top_up)?;
    Ok(HttpResponse::Created().json(shown))
}

pub(super) async fn find_top_up(
    state: Data<State>,
    path: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (business, id) = path::top_up(&path)?;
    let state = state.into_inner();
    let tasks = state.tasks.clone();
    let work = async move {
        let found = top_up::find(&state, business, id).await?;
        Ok::<_, StoreError>(found.map(|(top_up, balance)| view(&state, top_up, balance)))
    };
    let shown = tasks.run(work).await??;
    Ok(HttpResponse::Ok().json(shown.ok_or_else(|| ApiError::not_found("top_up_not_found", "top-up"))?))
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

pub(super) async fn credit(
    state: Data<State>,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let (amount, reference) = read_credit(&body)?;
    let state = state.into_inner();
    let tasks = state.tasks.clone();
    let given_reference = reference.clone();
    let work = async move { credit::credit(&state, business, amount, given_reference).await };
    let given = tasks.run(work).await?.map_err(errors::from_credit)?;
    Ok(HttpResponse::Ok().json(CreditView {
        transfer_id: given.id,
        amount_paise: given.amount,
        reference,
        balance_paise: given.balance_after,
    }))
}

fn read_credit(body: &JsonBody) -> Result<(Paise, String), ApiError> {
    let field_errors = FieldErrors::default();
    let read = Fields::of_body(&body.0, &field_errors)
        .map(|fields| (amount(&fields), fields.required_text("reference", REFERENCE)));
    match read {
        Some((Some(amount), Some(reference))) => Ok((amount, reference)),
        _ => Err(ApiError::invalid(field_errors)),
    }
}

fn amount(fields: &Fields<'_>) -> Option<Paise> {
    fields.required_integer("amountPaise", 1, Paise::REQUEST_MAX.get()).map(Paise::new)
}

//! `PUT /internal/debits/{order}/{attempt}` and `POST …/void`. The answer is 200 with the outcome, whatever it is.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::{BusinessId, Paise};
use internal_api::wallet::{DebitAnswer, DebitOutcome};
use web::{ApiError, FieldErrors, Fields, JsonBody};

use super::{errors, path};
use crate::commands::debit::{count, debit};
use crate::domain::{Action, Debit, DebitJob, Outcome};
use crate::state::State;

pub(super) async fn post(
    state: Data<State>,
    id: Path<(String, String)>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    answer(&state, &id, &body, Action::Post).await
}

pub(super) async fn void(
    state: Data<State>,
    id: Path<(String, String)>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    answer(&state, &id, &body, Action::Void).await
}

async fn answer(
    state: &State,
    id: &(String, String),
    body: &JsonBody,
    action: Action,
) -> Result<HttpResponse, ApiError> {
    let id = path::debit(id)?;
    let (business, amount) = read(body)?;
    let job = DebitJob { id, business, amount, action };
    let queue = state.debits.clone();
    let outcome = state.tasks.run(async move { debit(&queue, job).await }).await?;
    count(&outcome);
    Ok(HttpResponse::Ok().json(view(&outcome.map_err(errors::from_debit)?)))
}

/// A [`internal_api::wallet::DebitRequest`], with every fault named.
fn read(body: &JsonBody) -> Result<(BusinessId, Paise), ApiError> {
    let field_errors = FieldErrors::default();
    let read = Fields::of_body(&body.0, &field_errors).map(|fields| {
        let business = fields.required_word::<BusinessId>("businessId", "the id of a business");
        let amount = fields.required_integer("amountPaise", 1, Paise::REQUEST_MAX.get());
        (business, amount)
    });
    match read {
        Some((Some(business), Some(amount))) => Ok((business, Paise::new(amount))),
        _ => Err(ApiError::invalid(field_errors)),
    }
}

fn view(debit: &Debit) -> DebitAnswer {
    let outcome = match debit.outcome {
        Outcome::Posted => DebitOutcome::Posted,
        Outcome::Rejected => DebitOutcome::Rejected,
        Outcome::Voided => DebitOutcome::Voided,
    };
    DebitAnswer { outcome, balance_paise: debit.balance_after }
}

//! `PUT /internal/debits/{order}/{attempt}` and `POST …/void`. Every outcome is a response with status 200.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::{BusinessId, Paise};
use internal_api::wallet::{DebitAnswer, DebitOutcome};
use web::{ApiError, FieldErrors, Fields, JsonBody, Tasks};

use super::{errors, path};
use crate::commands::debit::{count, submit};
use crate::domain::{Action, Debit, DebitJob, Outcome};
use crate::queries::wallets::owed;
use crate::state::State;

pub(super) async fn post(
    state: Data<State>,
    tasks: Data<Tasks>,
    id: Path<(String, String)>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    answer(&state, &tasks, &id, &body, Action::Post).await
}

pub(super) async fn void(
    state: Data<State>,
    tasks: Data<Tasks>,
    id: Path<(String, String)>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    answer(&state, &tasks, &id, &body, Action::Void).await
}

async fn answer(
    state: &State,
    tasks: &Tasks,
    id: &(String, String),
    body: &JsonBody,
    action: Action,
) -> Result<HttpResponse, ApiError> {
    let id = path::debit(id)?;
    let (business, amount) = read(body)?;
    let job = DebitJob { id, business, amount, action };
    let queue = state.debits.clone();
    let debit = tasks.run(async move { submit(&queue, job).await }).await?;
    count(&debit);
    let debit = debit.map_err(errors::from_debit)?;
    let owed = match debit.outcome {
        Outcome::Rejected => owed(state, business).await?,
        Outcome::Posted | Outcome::Voided => Paise::ZERO,
    };
    Ok(HttpResponse::Ok().json(view(&debit, owed)))
}

/// Reads a [`internal_api::wallet::DebitRequest`] and reports all field errors.
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

fn view(debit: &Debit, owed_paise: Paise) -> DebitAnswer {
    let outcome = match debit.outcome {
        Outcome::Posted => DebitOutcome::Posted,
        Outcome::Rejected => DebitOutcome::Rejected,
        Outcome::Voided => DebitOutcome::Voided,
    };
    DebitAnswer { outcome, balance_paise: debit.balance_after, owed_paise }
}

//! `POST /internal/wallets/{business}/credits`.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::Paise;
use internal_api::wallet::CreditView;
use web::{ApiError, FieldErrors, Fields, JsonBody, Tasks, TextRule};

use super::{errors, path};
use crate::commands::credit;
use crate::state::State;

/// Long enough for any invoice number. References that look alike must be equal, so invisible characters are refused.
const REFERENCE: TextRule = TextRule::code(128);

pub(super) async fn create(
    state: Data<State>,
    tasks: Data<Tasks>,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = path::business(&business)?;
    let (amount, reference) = read(&body)?;
    let state = state.into_inner();
    let credited_reference = reference.clone();
    let work = async move { credit::credit(&state, business, amount, credited_reference).await };
    let credit = tasks.run(work).await?.map_err(errors::from_credit)?;
    Ok(HttpResponse::Ok().json(CreditView {
        transfer_id: credit.id,
        amount_paise: credit.amount,
        reference,
        balance_paise: credit.balance_after,
    }))
}

fn read(body: &JsonBody) -> Result<(Paise, String), ApiError> {
    let field_errors = FieldErrors::default();
    let read = Fields::only(&body.0, &field_errors, &["amountPaise", "reference"])
        .map(|fields| (amount(&fields), fields.required_text("reference", REFERENCE)));
    match read {
        Some((Some(amount), Some(reference))) if field_errors.is_empty() => Ok((amount, reference)),
        _ => Err(ApiError::invalid(field_errors)),
    }
}

pub(super) fn amount(fields: &Fields<'_>) -> Option<Paise> {
    fields.required_integer("amountPaise", 1, Paise::REQUEST_MAX.get()).map(Paise::new)
}

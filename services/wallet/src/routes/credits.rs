//! `POST /internal/wallets/{business}/credits`, `…/debits` and `…/debits/check`.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::{BusinessId, Paise, composed, is_attempt_fee_reference};
use internal_api::wallet::{CreditView, OperatorDebitView};
use web::{ApiError, FieldErrors, Fields, JsonBody, Tasks, TextRule};

use super::{errors, path};
use crate::commands::credit;
use crate::commands::debit_by_operator::{self, OperatorDebit};
use crate::state::State;

/// Long enough for any invoice number. References that look alike must be equal, so invisible characters are refused.
const REFERENCE: TextRule = TextRule::code(128);
const REASON: TextRule = TextRule::lines(500);

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
    let response =
        if credit.already { HttpResponse::Ok() } else { HttpResponse::Created() }.json(CreditView {
            transfer_id: credit.id,
            amount_paise: amount,
            reference,
            balance_paise: credit.balance,
            owed_paise: credit.owed,
            created_at: credit.at,
            already_credited: credit.already,
        });
    Ok(response)
}

pub(super) async fn debit(
    state: Data<State>,
    tasks: Data<Tasks>,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let request = read_debit(path::business(&business)?, &body)?;
    let (state, work) = (state.into_inner(), request.clone());
    let work = async move { debit_by_operator::debit(&state, &work).await };
    let debit = tasks.run(work).await?.map_err(errors::from_operator_debit)?;
    let OperatorDebit { amount, reference, reverses, .. } = request;
    let response =
        if debit.already { HttpResponse::Ok() } else { HttpResponse::Created() }.json(OperatorDebitView {
            transfer_id: debit.id,
            amount_paise: amount,
            reference,
            reverses,
            balance_paise: debit.balance,
            owed_paise: debit.owed,
            created_at: debit.at,
            already_debited: debit.already,
        });
    Ok(response)
}

/// Refuses what [`debit`] would refuse.
pub(super) async fn check_debit(
    state: Data<State>,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let request = read_debit(path::business(&business)?, &body)?;
    debit_by_operator::check(&state, &request).await.map_err(errors::from_operator_debit)?;
    Ok(HttpResponse::NoContent().finish())
}

fn read_debit(business: BusinessId, body: &JsonBody) -> Result<OperatorDebit, ApiError> {
    let field_errors = FieldErrors::default();
    let known = ["amountPaise", "reference", "reason", "reverses"];
    let read = Fields::only(&body.0, &field_errors, &known).and_then(|fields| {
        let (amount, reference) = (amount(&fields), reference(&fields));
        if reference.as_deref().is_some_and(is_attempt_fee_reference) {
            let message = "References like this one belong to the fees of attempts. Use another one.";
            fields.reject("reference", "reserved", message);
        }
        let reverses = fields.optional_word("reverses", "the id of a transfer");
        let reason = fields.optional_text("reason", REASON);
        Some(OperatorDebit { business, amount: amount?, reference: reference?, reason, reverses })
    });
    read.filter(|_| field_errors.is_empty()).ok_or_else(|| ApiError::invalid(field_errors))
}

fn read(body: &JsonBody) -> Result<(Paise, String), ApiError> {
    let field_errors = FieldErrors::default();
    let read = Fields::only(&body.0, &field_errors, &["amountPaise", "reference"])
        .map(|fields| (amount(&fields), reference(&fields)));
    match read {
        Some((Some(amount), Some(reference))) if field_errors.is_empty() => Ok((amount, reference)),
        _ => Err(ApiError::invalid(field_errors)),
    }
}

/// In Unicode's composed form.
fn reference(fields: &Fields<'_>) -> Option<String> {
    fields.required_text("reference", REFERENCE).map(|text| composed(&text).into_owned())
}

pub(super) fn amount(fields: &Fields<'_>) -> Option<Paise> {
    fields.required_integer("amountPaise", 1, Paise::REQUEST_MAX.get()).map(Paise::new)
}

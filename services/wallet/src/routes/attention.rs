//! `POST /internal/attention {closed}` and `POST /internal/balances {ids}`

use actix_web::HttpResponse;
use actix_web::web::Data;
use domain::BusinessId;
use internal_api::attention::{
    ATTENTION_MAX, BUSINESSES_MAX, Balance, CLOSED_MAX, DISCREPANCIES_MAX, LateCash, LowBalance,
    WalletAttention,
};
use web::{ApiError, FieldErrors, Fields, JsonBody};

use crate::queries;
use crate::state::State;

pub(super) async fn attention(state: Data<State>, body: JsonBody) -> Result<HttpResponse, ApiError> {
    let closed = businesses(&body, "closed", CLOSED_MAX)?;
    let found = queries::attention::attention(&state, &closed, ATTENTION_MAX, DISCREPANCIES_MAX).await?;
    let low = found.low_balances.into_iter().map(|low| LowBalance {
        business_id: low.business,
        balance_paise: low.balance,
        owed_paise: low.owed,
    });
    let late = found.late_cash.into_iter().map(|late| LateCash {
        business_id: late.business,
        orders: late.orders,
        amount_paise: late.amount,
        due_since: late.due_since,
    });
    Ok(HttpResponse::Ok().json(WalletAttention {
        low_balances: low.collect(),
        late_cash: late.collect(),
        open_discrepancies: Some(found.open_discrepancies),
    }))
}

pub(super) async fn balances(state: Data<State>, body: JsonBody) -> Result<HttpResponse, ApiError> {
    let ids = businesses(&body, "ids", BUSINESSES_MAX)?;
    let found = queries::wallets::balances(&state, &ids).await?;
    let view = |(business_id, balance_paise)| Balance { business_id, balance_paise };
    Ok(HttpResponse::Ok().json(found.into_iter().map(view).collect::<Vec<_>>()))
}

fn businesses(body: &JsonBody, field: &str, max: usize) -> Result<Vec<BusinessId>, ApiError> {
    let field_errors = FieldErrors::default();
    let ids = Fields::of_body(&body.0, &field_errors)
        .and_then(|fields| fields.optional_words::<BusinessId>(field, max, "the id of a business"));
    if field_errors.is_empty() { Ok(ids.unwrap_or_default()) } else { Err(ApiError::invalid(field_errors)) }
}

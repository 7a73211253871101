//! `GET /internal/attention`, and `POST /internal/balances {ids}`

use actix_web::HttpResponse;
use actix_web::web::Data;
use domain::BusinessId;
use internal_api::attention::{
    ATTENTION_MAX, BUSINESSES_MAX, Balance, DISCREPANCIES_MAX, LateCash, LowBalance, WalletAttention,
};
use web::{ApiError, FieldErrors, Fields, JsonBody};

use crate::queries;
use crate::state::State;

pub(super) async fn attention(state: Data<State>) -> Result<HttpResponse, ApiError> {
    let found = queries::attention::attention(&state, ATTENTION_MAX, DISCREPANCIES_MAX).await?;
    let low = found
        .low_balances
        .into_iter()
        .map(|low| LowBalance { business_id: low.business, balance_paise: low.balance });
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
    let field_errors = FieldErrors::default();
    let ids = Fields::of_body(&body.0, &field_errors).and_then(|fields| {
        fields.optional_words::<BusinessId>("ids", BUSINESSES_MAX, "the id of a business")
    });
    if !field_errors.is_empty() {
        return Err(ApiError::invalid(field_errors));
    }
    let found = queries::wallets::balances(&state, &ids.unwrap_or_default()).await?;
    let view = |(business_id, balance_paise)| Balance { business_id, balance_paise };
    Ok(HttpResponse::Ok().json(found.into_iter().map(view).collect::<Vec<_>>()))
}

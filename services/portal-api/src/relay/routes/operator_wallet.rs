//! `/v1/operator/businesses/{id}/wallet`: the operator credits a wallet, or takes money back. Wallet does not know businesses, so
//! the calls are forwarded after a check that the business exists.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::{BusinessId, Paise};
use internal_api::wallet::{CreditView, OperatorDebitView};
use serde_json::Value;
use web::{ApiError, Fields, JsonBody, TextRule, read_body};

use crate::approvals::commands::request_approval::request_approval;
use crate::approvals::commands::{approval_limit, move_money};
use crate::approvals::domain::{ApprovalPolicy, ProtectedAction, WalletDebit};
use crate::approvals::routes::approval_view::{self, ApprovalView};
use crate::audit::commands::audit::record_operator_request;
use crate::audit::domain::{Action, AuditEvent, Author};
use crate::business::routes::businesses::business_id;
use crate::http::audited::{OperatorAuthor, audited};
use crate::http::errors;
use crate::http::openapi::bodies;
use crate::state::State;

/// The rule of wallet.
const REFERENCE: TextRule = TextRule::code(128);
const REASON: TextRule = TextRule::lines(500);

#[utoipa::path(
    post,
    path = "/v1/operator/businesses/{id}/wallet/credits",
    operation_id = "creditWallet",
    tag = "Operator",
    summary = "Credit a wallet",
    description = "What the business owes is paid first.",
    params(("id" = domain::BusinessId, Path, description = "The business.")),
    request_body = bodies::CreditWallet,
    responses(
        (status = 201, description = "The credit.", body = CreditView),
        (status = 200, description = "An earlier call with this reference made the credit, at `createdAt`. Nothing was credited.", body = CreditView),
        (status = 202, description = "A second person must approve it first.", body = ApprovalView),
    ),
)]
pub(crate) async fn credit(
    state: Data<State>,
    author: OperatorAuthor,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&state, &business).await?;
    let policy = approval_limit::policy(&state).await?;
    if let Some(action) = credit_to_approve(policy, &body.0)? {
        return request(&state, business, &author.0, action).await;
    }
    let requested = credit_requested(&body.0);
    record_operator_request(&state, business, &author.0, &requested).await?;
    let work = {
        let state = state.clone();
        async move { Ok(move_money::credit(&state, business, &body.0).await?) }
    };
    let credit = audited(&state, business, author.0, work, move_money::credited).await?;
    tracing::info!(business_id = %business, transfer_id = %credit.transfer_id, already = credit.already_credited, "wallet credited by the operator");
    Ok(if credit.already_credited { HttpResponse::Ok() } else { HttpResponse::Created() }.json(credit))
}

#[utoipa::path(
    post,
    path = "/v1/operator/businesses/{id}/wallet/debits",
    operation_id = "debitWallet",
    tag = "Operator",
    summary = "Take money from a wallet, to correct it",
    description = "With `reverses`, the debit takes back that credit, top-up or refund, at most its amount. The business owes what its balance does not cover; later deposits and refunds pay it first. Without `reverses`, the debit never exceeds the balance.",
    params(("id" = domain::BusinessId, Path, description = "The business.")),
    request_body = bodies::DebitWallet,
    responses(
        (status = 201, description = "The debit.", body = OperatorDebitView),
        (status = 200, description = "An earlier call with this reference made the debit, at `createdAt`. Nothing was taken.", body = OperatorDebitView),
        (status = 202, description = "A second person must approve it first.", body = ApprovalView),
    ),
)]
pub(crate) async fn debit(
    state: Data<State>,
    author: OperatorAuthor,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&state, &business).await?;
    let debit = parse_debit(&body.0)?;
    if approval_limit::policy(&state).await?.covers_amount(debit.amount_paise) {
        move_money::check_debit(&state, business, &debit).await?;
        return request(&state, business, &author.0, ProtectedAction::Debit(debit)).await;
    }
    let requested = debit.describe(AuditEvent::new(Action::WalletDebitRequested));
    record_operator_request(&state, business, &author.0, &requested).await?;
    let work = {
        let (state, debit) = (state.clone(), debit.clone());
        async move { Ok(move_money::debit(&state, business, &debit).await?) }
    };
    let event = move |taken: &OperatorDebitView| move_money::debited(&debit, taken.transfer_id);
    let taken = audited(&state, business, author.0, work, event).await?;
    tracing::info!(business_id = %business, transfer_id = %taken.transfer_id, already = taken.already_debited, "wallet debited by the operator");
    Ok(if taken.already_debited { HttpResponse::Ok() } else { HttpResponse::Created() }.json(taken))
}

async fn request(
    state: &State,
    business: BusinessId,
    author: &Author,
    action: ProtectedAction,
) -> Result<HttpResponse, ApiError> {
    let requested = request_approval(state, business, author, action).await;
    approval_view::requested(state, author, requested.map_err(errors::request_approval)?).await
}

/// Also of a body that wallet refuses.
fn credit_requested(body: &Value) -> AuditEvent {
    let event = AuditEvent::new(Action::WalletCreditRequested);
    let event = match body["amountPaise"].as_i64() {
        Some(amount) => event.with("amountPaise", amount),
        None => event,
    };
    let reference = body["reference"].as_str().and_then(|text| REFERENCE.check(text).ok().flatten());
    match reference {
        Some(reference) => event.with("reference", reference),
        None => event,
    }
}

/// The credit, if it needs an approval. With approvals, an invalid body is refused here: wallet must not accept what this
/// check could not read.
fn credit_to_approve(policy: ApprovalPolicy, body: &Value) -> Result<Option<ProtectedAction>, ApiError> {
    if policy.credits_above.is_none() {
        return Ok(None);
    }
    let (amount_paise, reference) = read_body(body, &["amountPaise", "reference"], |fields| {
        let (amount, reference) = (amount(fields), fields.required_text("reference", REFERENCE));
        Some((amount?, reference?))
    })?;
    let needs_approval = policy.covers_amount(amount_paise);
    Ok(needs_approval.then_some(ProtectedAction::Credit { amount_paise, reference }))
}

fn parse_debit(body: &Value) -> Result<WalletDebit, ApiError> {
    read_body(body, &["amountPaise", "reference", "reason", "reverses"], |fields| {
        let (amount, reference) = (amount(fields), fields.required_text("reference", REFERENCE));
        let reason = fields.required_text("reason", REASON);
        let reverses = fields.optional_word("reverses", "the id of a transfer");
        Some(WalletDebit { amount_paise: amount?, reference: reference?, reason: reason?, reverses })
    })
}

fn amount(fields: &Fields<'_>) -> Option<Paise> {
    fields.required_integer("amountPaise", 1, Paise::REQUEST_MAX.get()).map(Paise::new)
}

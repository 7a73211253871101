//! Driving a stored order to its end: the debit, which may be sent as often as it takes since it happens once, and the
//! step that its outcome calls for.

use std::time::Duration;

use domain::OrderId;
use internal_api::CallError;
use internal_api::wallet::{DebitAnswer, DebitOutcome, DebitRequest};
use postgres::StoreError;
use telemetry::TraceContext;
use tokio::time::Instant;

use super::{CreateError, Payment};
use crate::app::App;
use crate::domain::Claim;
use crate::store::placing;

/// Between two tries to reach the wallet.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Where driving ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Driven {
    Placed,
    /// Its debit was called off; the reference is free for the next attempt.
    Released,
}

/// Asks for the debit of this attempt and does what its outcome calls for.
pub(super) async fn drive(app: &App, claim: &Claim, deadline: Instant) -> Result<Driven, CreateError> {
    let answer = debit(app, claim, deadline).await?;
    match answer.outcome {
        DebitOutcome::Posted => {
            place_paid(app, claim.order_id, claim.attempt).await?;
            Ok(Driven::Placed)
        }
        DebitOutcome::Rejected => {
            release(app, claim).await?;
            Err(CreateError::InsufficientBalance {
                balance: answer.balance_paise,
                required: claim.delivery_fee,
            })
        }
        DebitOutcome::Voided => {
            release(app, claim).await?;
            Ok(Driven::Released)
        }
    }
}

/// Places an order whose debit is posted; placed before, it stays as it is.
pub(in crate::commands) async fn place_paid(
    app: &App,
    order_id: OrderId,
    attempt: i32,
) -> Result<(), StoreError> {
    app.payments.submit(Payment { order_id, attempt, trace: TraceContext::current() }).await?;
    app.doorbell.ring();
    Ok(())
}

async fn debit(app: &App, claim: &Claim, deadline: Instant) -> Result<DebitAnswer, CreateError> {
    let request = DebitRequest { business_id: claim.business_id, amount_paise: claim.delivery_fee };
    loop {
        let asked = app.wallet.debit(claim.order_id, claim.attempt, &request);
        match tokio::time::timeout_at(deadline, asked).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(refused @ CallError::Refused { .. })) => return Err(refused.into()),
            Ok(Err(CallError::Unavailable { reason, .. })) => {
                tracing::warn!(order_id = %claim.order_id, reason, "the wallet did not answer a debit; asking again");
            }
            Err(_) => return Err(CreateError::Unknown),
        }
        if Instant::now() + RETRY_PAUSE >= deadline {
            return Err(CreateError::Unknown);
        }
        tokio::time::sleep(RETRY_PAUSE).await;
    }
}

async fn release(app: &App, claim: &Claim) -> Result<(), StoreError> {
    let mut conn = app.database.connection().await?;
    // False: someone else released it, or it has been taken over since; both are well.
    let _released = placing::release(&mut conn, claim, app.ambient.clock.now()).await?;
    Ok(())
}

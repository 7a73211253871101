//! Driving a stored order to its end: the debit, which may be sent as often as it takes since it happens once, and the
//! step that its outcome calls for.

use std::time::Duration;

use internal_api::CallError;
use internal_api::wallet::{DebitAnswer, DebitOutcome, DebitRequest};
use postgres::StoreError;
use telemetry::TraceContext;
use tokio::time::Instant;

use super::{CreateError, Payment};
use crate::app::App;
use crate::domain::Claim;
use crate::store::placing::{self, Paid};

/// Between two tries to reach the wallet.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Where driving ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Driven {
    Placed,
    /// Its debit was called off; the reference is free for the next attempt.
    Released,
}

/// What is asked of the wallet about an attempt. Either may be asked as often as it takes, since the first decides.
#[derive(Clone, Copy, Debug)]
enum Ask {
    Debit,
    CallOff,
}

/// Asks for the debit of this attempt and does what its outcome calls for.
pub(super) async fn drive(app: &App, claim: &Claim, deadline: Instant) -> Result<Driven, CreateError> {
    let answer = ask(app, claim, Ask::Debit, deadline).await?;
    let driven = settle(app, claim, answer.outcome).await?;
    match answer.outcome {
        DebitOutcome::Rejected => Err(CreateError::InsufficientBalance {
            balance: answer.balance_paise,
            required: claim.delivery_fee,
        }),
        DebitOutcome::Posted | DebitOutcome::Voided => Ok(driven),
    }
}

/// Calls the debit of this attempt off, so that what is said of the order afterwards is the end of it: it was paid before,
/// and is placed, or never will be.
pub(super) async fn call_off(app: &App, claim: &Claim, deadline: Instant) -> Result<Driven, CreateError> {
    let answer = ask(app, claim, Ask::CallOff, deadline).await?;
    Ok(settle(app, claim, answer.outcome).await?)
}

/// Places what is paid; frees the reference and key of what is not.
pub(in crate::commands) async fn settle(
    app: &App,
    claim: &Claim,
    outcome: DebitOutcome,
) -> Result<Driven, StoreError> {
    match outcome {
        DebitOutcome::Posted => {
            place_paid(app, claim).await?;
            Ok(Driven::Placed)
        }
        DebitOutcome::Rejected | DebitOutcome::Voided => {
            release(app, claim).await?;
            Ok(Driven::Released)
        }
    }
}

/// Places an order whose debit is posted; placed before, it stays as it is.
async fn place_paid(app: &App, claim: &Claim) -> Result<(), StoreError> {
    let Claim { business_id, order_id, attempt, .. } = *claim;
    let paid = Paid { business_id, order_id, attempt };
    app.payments.submit(Payment { paid, trace: TraceContext::current() }).await?;
    app.notifier.notify();
    Ok(())
}

async fn ask(app: &App, claim: &Claim, ask: Ask, deadline: Instant) -> Result<DebitAnswer, CreateError> {
    let request = DebitRequest { business_id: claim.business_id, amount_paise: claim.delivery_fee };
    let send = async || match ask {
        Ask::Debit => app.wallet.debit(claim.order_id, claim.attempt, &request).await,
        Ask::CallOff => app.wallet.void(claim.order_id, claim.attempt, &request).await,
    };
    loop {
        let asked = send();
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

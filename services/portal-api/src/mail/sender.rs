//! The worker that sends mails: a few at a time, again and again with growing pauses, and not for ever.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use metrics::counter;
use postgres::StoreError;
use strum::VariantNames;
use tokio_util::sync::CancellationToken;

use super::letters::Letter;
use super::transport::{SEND_MAX, SendError, Transport};
use crate::app::App;
use crate::store::mails::{self, Claimed};

/// Sent at the same time.
const AT_ONCE: i64 = 8;
/// Longer than sending takes: no two instances send the same mail.
const LEASE: TimeDelta = TimeDelta::seconds(2 * SEND_MAX.as_secs() as i64);
/// Between looks at the queue when nobody rings.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// A mail is given up after so many attempts.
const ATTEMPTS_MAX: i32 = 10;
/// In seconds, after each attempt that failed; the last one for all that follow.
const PAUSES_S: [i64; 6] = [10, 60, 300, 900, 1_800, 3_600];

/// A worker: sends what is due until it is stopped.
pub(crate) async fn keep_sending(app: App, transport: Transport, stop: CancellationToken) {
    create_counters();
    while !stop.is_cancelled() {
        match send_some(&app, &transport).await {
            Ok(0) => {}
            Ok(_) => continue,
            Err(error) => tracing::warn!(%error, "mails wait: their queue cannot be read or written"),
        }
        tokio::select! {
            () = app.mailbox.rung() => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = stop.cancelled() => {}
        }
    }
}

/// A counter that begins with its first mail hides that mail from whoever watches its increase.
fn create_counters() {
    for kind in Letter::VARIANTS {
        counter!("mails_sent_total", "kind" => *kind).increment(0);
        counter!("mails_failed_total", "kind" => *kind).increment(0);
    }
}

/// How many were tried.
async fn send_some(app: &App, transport: &Transport) -> Result<usize, StoreError> {
    let now = app.clock.now();
    let claimed = app.database.read(async |conn| mails::claim(conn, now, LEASE, AT_ONCE).await).await?;
    let outcomes = join_all(claimed.iter().map(|mail| send(app, transport, mail, now))).await;
    for (mail, outcome) in claimed.iter().zip(outcomes) {
        note(app, mail, outcome).await?;
    }
    Ok(claimed.len())
}

async fn send(app: &App, transport: &Transport, mail: &Claimed, now: DateTime<Utc>) -> Result<(), SendError> {
    if mail.is_expired {
        return Err(SendError::Never("it expired before the mail server took it".to_owned()));
    }
    // An instance with the token that it was sealed under may still come by.
    let bodies = app.mailbox.opened(mail).map_err(|error| SendError::Later(error.to_string()))?;
    transport.send(mail, bodies, now).await
}

async fn note(app: &App, mail: &Claimed, outcome: Result<(), SendError>) -> Result<(), StoreError> {
    let (kind, business_id) = (mail.kind.clone(), &mail.business_id);
    match outcome {
        Ok(()) => {
            counter!("mails_sent_total", "kind" => kind.clone()).increment(1);
            tracing::info!(mail_id = mail.id, kind, business_id, "a mail was sent");
        }
        Err(SendError::Later(reason)) if mail.attempts < ATTEMPTS_MAX => {
            let due_at = next_attempt(mail.attempts, app.clock.now());
            tracing::warn!(
                mail_id = mail.id,
                kind,
                business_id,
                reason,
                attempts = mail.attempts,
                "a mail was not taken; it is tried again"
            );
            return app.database.read(async |conn| mails::put_off(conn, mail, due_at).await).await;
        }
        Err(error) => {
            counter!("mails_failed_total", "kind" => kind.clone()).increment(1);
            tracing::error!(mail_id = mail.id, kind, business_id, %error, "a mail was given up");
        }
    }
    app.database.read(async |conn| mails::remove(conn, mail.id).await).await
}

fn next_attempt(attempts: i32, now: DateTime<Utc>) -> DateTime<Utc> {
    let index = usize::try_from(attempts - 1).unwrap_or(0).min(PAUSES_S.len() - 1);
    now + TimeDelta::seconds(PAUSES_S[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_then_stay() {
        let pause =
            |attempts| (next_attempt(attempts, DateTime::UNIX_EPOCH) - DateTime::UNIX_EPOCH).num_seconds();
        assert_eq!([1, 2, 6, 7, 9].map(pause), [10, 60, 3_600, 3_600, 3_600]);
    }
}

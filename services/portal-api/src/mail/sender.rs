//! Sends queued mails, and retries failed ones with growing delays.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use metrics::counter;
use outbox::Unit;
use postgres::StoreError;
use strum::VariantNames;
use tokio::sync::Notify;

use crate::mail::transport::{SEND_MAX, SendError, Transport};
use crate::mail::{Mail, Mailbox};
use crate::store::mails::{self, ClaimedMail};

/// Sent concurrently.
const BATCH_MAX: i64 = 8;
/// Longer than sending takes, so that no two instances send the same mail.
const LEASE: TimeDelta = TimeDelta::seconds(2 * SEND_MAX.as_secs() as i64);
const ATTEMPTS_MAX: i32 = 10;
/// The delay after each failed attempt, in seconds. The last one repeats.
const DELAYS_S: [i64; 6] = [10, 60, 300, 900, 1_800, 3_600];

pub(crate) struct MailSender {
    unit: Unit,
    mailbox: Arc<Mailbox>,
    transport: Transport,
}

impl MailSender {
    pub(crate) fn new(unit: Unit, mailbox: Arc<Mailbox>, transport: Transport) -> Self {
        publish_counters();
        Self { unit, mailbox, transport }
    }

    /// Notified when a mail is queued.
    pub(crate) fn queued(&self) -> &Notify {
        &self.mailbox.queued
    }

    /// Sends a batch of due mails, and returns how many it tried.
    pub(crate) async fn send_batch(&self) -> Result<usize, StoreError> {
        let now = self.unit.clock.now();
        let database = &self.unit.database;
        let claimed: Result<Vec<ClaimedMail>, StoreError> =
            database.read(async |conn| mails::claim(conn, now, LEASE, BATCH_MAX).await).await;
        let claimed = claimed?;
        // Each is recorded by itself: one that cannot be recorded must not have the others sent again.
        let recorded = join_all(claimed.iter().map(async |mail| {
            let outcome = self.send(mail, now).await;
            self.record(mail, outcome).await
        }));
        recorded.await.into_iter().collect::<Result<Vec<()>, _>>()?;
        Ok(claimed.len())
    }

    async fn send(&self, mail: &ClaimedMail, now: DateTime<Utc>) -> Result<(), SendError> {
        if mail.is_expired {
            return Err(SendError::Permanent("the mail expired before it was sent".to_owned()));
        }
        // Retried: during a change of the internal token, another instance may be able to decrypt the token.
        let bodies = self.mailbox.bodies(mail).map_err(|error| SendError::Transient(error.to_string()))?;
        self.transport.send(mail, bodies, now).await
    }

    async fn record(&self, mail: &ClaimedMail, outcome: Result<(), SendError>) -> Result<(), StoreError> {
        let (kind, business_id) = (mail.kind.clone(), &mail.business_id);
        let database = &self.unit.database;
        match outcome {
            Ok(()) => {
                counter!("mails_sent_total", "kind" => kind.clone()).increment(1);
                tracing::info!(mail_id = mail.id, kind, business_id, "mail sent");
            }
            Err(SendError::Transient(reason)) if mail.attempts < ATTEMPTS_MAX => {
                let due_at = next_attempt(mail.attempts, self.unit.clock.now());
                let attempts = mail.attempts;
                tracing::warn!(
                    mail_id = mail.id,
                    kind,
                    business_id,
                    reason,
                    attempts,
                    "sending a mail failed; it is retried"
                );
                return database.read(async |conn| mails::reschedule(conn, mail.id, due_at).await).await;
            }
            Err(error) => {
                counter!("mails_failed_total", "kind" => kind.clone()).increment(1);
                tracing::error!(mail_id = mail.id, kind, business_id, %error, "mail delivery failed");
            }
        }
        database.read(async |conn| mails::remove(conn, mail.id).await).await
    }
}

/// Publishes all counters as 0: alerts on increases miss the first event of an absent series.
fn publish_counters() {
    for kind in Mail::VARIANTS {
        counter!("mails_sent_total", "kind" => *kind).increment(0);
        counter!("mails_failed_total", "kind" => *kind).increment(0);
    }
}

fn next_attempt(attempts: i32, now: DateTime<Utc>) -> DateTime<Utc> {
    let index = usize::try_from(attempts - 1).unwrap_or(0).min(DELAYS_S.len() - 1);
    now + TimeDelta::seconds(DELAYS_S[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_up_to_an_hour() {
        let delay =
            |attempts| (next_attempt(attempts, DateTime::UNIX_EPOCH) - DateTime::UNIX_EPOCH).num_seconds();
        assert_eq!([1, 2, 6, 7, 9].map(delay), [10, 60, 3_600, 3_600, 3_600]);
    }
}

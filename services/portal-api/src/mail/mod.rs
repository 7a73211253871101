//! Mails: what they say, the queue that they wait in, and the ways they leave by.

mod letters;
mod sender;
mod transport;

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use diesel_async::AsyncPgConnection;
use domain::BusinessId;
use postgres::StoreError;
use settings::Brand;
use tokio::sync::Notify;

pub(crate) use letters::Letter;
pub(crate) use sender::keep_sending;
pub(crate) use transport::Transport;

use crate::domain::{Links, Place};
use crate::store::mails::{self, NewMail};

/// Mails of one business that wait at once; more are left out, and told of in the log.
const WAITING_MAX: i64 = 1_000;
/// A warning that comes later than this helps nobody.
const USEFUL: TimeDelta = TimeDelta::days(3);

/// Where commands put mails.
#[derive(Clone)]
pub(crate) struct Mailbox {
    /// Without a way to send, nothing is put in.
    enabled: bool,
    brand: Arc<Brand>,
    links: Links,
    place: Place,
    bell: Arc<Notify>,
}

impl Mailbox {
    pub(crate) fn new(enabled: bool, brand: Brand, links: Links, place: Place) -> Self {
        Self { enabled, brand: Arc::new(brand), links, place, bell: Arc::new(Notify::new()) }
    }

    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Puts a mail in, within the caller's transaction. [`Mailbox::ring`] after the commit.
    pub(crate) async fn post(
        &self,
        conn: &mut AsyncPgConnection,
        business: BusinessId,
        recipient: &str,
        letter: &Letter<'_>,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        if !self.enabled {
            return Ok(());
        }
        let written = letter
            .write(&self.brand, &self.links, self.place)
            .map_err(|error| StoreError::Corrupt(format!("a mail cannot be written: {error}")))?;
        let mail = NewMail {
            business,
            kind: letter.kind(),
            recipient,
            subject: &written.subject,
            text: &written.text,
            html: &written.html,
            created_at: now,
            expires_at: letter.expires_at().map_or(now + USEFUL, |end| end.min(now + USEFUL)),
        };
        if !mails::insert(conn, &mail, WAITING_MAX).await? {
            tracing::warn!(business_id = %business, kind = mail.kind, "too many mails of a business wait; one is left out");
        }
        Ok(())
    }

    /// Wakes the sender. A ring that is missed costs a few seconds, nothing else.
    pub(crate) fn ring(&self) {
        self.bell.notify_one();
    }

    pub(crate) async fn rung(&self) {
        self.bell.notified().await;
    }
}

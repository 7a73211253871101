//! Mails: what they say, the queue that they wait in, and the ways they leave by.

mod letters;
mod seal;
mod sender;
mod transport;

use std::fmt::Display;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use diesel_async::AsyncPgConnection;
use domain::{BusinessId, Entropy};
use postgres::StoreError;
use settings::Brand;
use tokio::sync::Notify;

pub(crate) use letters::Letter;
pub(crate) use seal::Seal;
pub(crate) use sender::keep_sending;
pub(crate) use transport::{Transport, is_deliverable};

use crate::domain::{Links, Place};
use crate::store::mails::{self, Claimed, NewMail};

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
    seal: Seal,
    entropy: Entropy,
    bell: Arc<Notify>,
}

impl Mailbox {
    pub(crate) fn new(
        enabled: bool,
        brand: Brand,
        links: Links,
        place: Place,
        secrets: (Seal, Entropy),
    ) -> Self {
        let (seal, entropy) = secrets;
        Self { enabled, brand: Arc::new(brand), links, place, seal, entropy, bell: Arc::new(Notify::new()) }
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
        let unwritten =
            |error: &dyn Display| StoreError::Corrupt(format!("a mail cannot be written: {error}"));
        let mut written =
            letter.write(&self.brand, &self.links, self.place).map_err(|error| unwritten(&error))?;
        let mut sealed_token = None;
        if let Some(token) = letter.token() {
            let sealed = self.seal.close(recipient, token.expose(), &self.entropy);
            sealed_token = Some(sealed.map_err(|error| unwritten(&error))?);
            written.text = seal::without(&written.text, token.expose());
            written.html = seal::without(&written.html, token.expose());
        }
        let mail = NewMail {
            business,
            kind: letter.kind(),
            recipient,
            subject: &written.subject,
            text: &written.text,
            html: &written.html,
            sealed_token,
            created_at: now,
            expires_at: letter.expires_at().map_or(now + USEFUL, |end| end.min(now + USEFUL)),
        };
        if !mails::insert(conn, &mail, WAITING_MAX).await? {
            tracing::warn!(business_id = %business, kind = mail.kind, "too many mails of a business wait; one is left out");
        }
        Ok(())
    }

    /// The texts of a mail as they are sent.
    fn opened(&self, mail: &Claimed) -> Result<(String, String), seal::Unreadable> {
        let (text, html) = (&mail.text_body, &mail.html_body);
        let Some(sealed) = &mail.sealed_token else { return Ok((text.clone(), html.clone())) };
        let secret = self.seal.open(&mail.recipient, sealed)?;
        Ok((seal::with(text, &secret), seal::with(html, &secret)))
    }

    /// Wakes the sender. A ring that is missed costs a few seconds, nothing else.
    pub(crate) fn ring(&self) {
        self.bell.notify_one();
    }

    pub(crate) async fn rung(&self) {
        self.bell.notified().await;
    }
}

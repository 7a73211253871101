//! Sends mails: templates, the queue, and the transports.

mod placeholder;
mod sender;
mod standing_texts;
mod template;
mod texts;
mod transport;

use std::fmt::Display;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use diesel_async::AsyncPgConnection;
use domain::{Email, Entropy};
use identity::{Vault, VaultError};
use postgres::StoreError;
use settings::Brand;
use tokio::sync::Notify;

use crate::domain::{Links, RegionFormat};
use crate::store::mails::{self, ClaimedMail, MailOwner, NewMail};
use crate::store::users;
pub(crate) use sender::MailSender;
pub(crate) use template::Mail;
pub(crate) use texts::{ClosingNews, FactorNews};
pub(crate) use transport::{Encryption, Route, SmtpServer, Transport, is_deliverable};

/// A business may have this many queued mails. Further ones are dropped.
const QUEUED_MAX: i64 = 1_000;
/// A person of the staff may have this many.
const QUEUED_OF_STAFF_MAX: i64 = 100;
/// Queued mails expire after this time, at the latest.
const EXPIRES_AFTER: TimeDelta = TimeDelta::days(3);

/// Renders mails and puts them in the queue.
pub(crate) struct Mailbox {
    /// False without a transport. Then no mail is queued.
    pub(crate) is_enabled: bool,
    pub(crate) brand: Brand,
    pub(crate) links: Links,
    pub(crate) region: RegionFormat,
    /// Encrypts the tokens of links.
    pub(crate) vault: Vault,
    pub(crate) entropy: Entropy,
    /// Wakes the sender.
    pub(crate) queued: Arc<Notify>,
}

impl Mailbox {
    /// Queues a mail within the caller's transaction, unless nothing may be sent to the address. Call [`Mailbox::wake_sender`] after the commit.
    pub(crate) async fn queue(
        &self,
        conn: &mut AsyncPgConnection,
        owner: impl Into<MailOwner>,
        recipient: &str,
        mail: &Mail<'_>,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        if !self.is_enabled {
            return Ok(());
        }
        let owner = owner.into();
        if !may_send(conn, owner, recipient, mail).await? {
            tracing::debug!(?owner, kind = mail.kind(), "mail not sent: the address is not verified");
            return Ok(());
        }
        let failed = |error: &dyn Display| StoreError::Corrupt(format!("cannot render a mail: {error}"));
        let mut rendered =
            mail.render(&self.brand, &self.links, self.region).map_err(|error| failed(&error))?;
        let mut sealed_token = None;
        if let Some(token) = mail.token() {
            let sealed = self.vault.seal(recipient, token.expose(), &self.entropy);
            sealed_token = Some(sealed.map_err(|error| failed(&error))?);
            rendered.text = placeholder::with_placeholder(&rendered.text, token.expose());
            rendered.html = placeholder::with_placeholder(&rendered.html, token.expose());
        }
        let mail = NewMail {
            owner,
            kind: mail.kind(),
            recipient,
            subject: &rendered.subject,
            text: &rendered.text,
            html: &rendered.html,
            sealed_token,
            created_at: now,
            expires_at: mail.expires_at().map_or(now + EXPIRES_AFTER, |end| end.min(now + EXPIRES_AFTER)),
        };
        let max = match owner {
            MailOwner::Business(_) => QUEUED_MAX,
            MailOwner::Staff(_) => QUEUED_OF_STAFF_MAX,
        };
        if !mails::insert(conn, &mail, max).await? {
            tracing::warn!(?owner, kind = mail.kind, "mail dropped: too many are queued");
        }
        Ok(())
    }

    /// The text and the HTML of a queued mail, with the token.
    fn bodies(&self, mail: &ClaimedMail) -> Result<(String, String), VaultError> {
        let (text, html) = (&mail.text_body, &mail.html_body);
        let Some(sealed) = &mail.sealed_token else { return Ok((text.clone(), html.clone())) };
        let token = self.vault.open(&mail.recipient, sealed)?;
        Ok((placeholder::with_token(text, &token), placeholder::with_token(html, &token)))
    }

    /// A lost wake-up only delays the mail by a few seconds.
    pub(crate) fn wake_sender(&self) {
        self.queued.notify_one();
    }
}

/// Warnings and notices of a business go to its verified addresses only. Mails that prove an address go to any.
async fn may_send(
    conn: &mut AsyncPgConnection,
    owner: MailOwner,
    recipient: &str,
    mail: &Mail<'_>,
) -> Result<bool, StoreError> {
    let MailOwner::Business(business) = owner else { return Ok(true) };
    if mail.proves_address() {
        return Ok(true);
    }
    match Email::parse(recipient) {
        Some(email) => users::is_verified(conn, business, &email).await,
        None => Ok(false),
    }
}

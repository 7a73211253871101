//! Applies each event once and in order, whether it arrives as a webhook or from the feed.

use std::convert::Infallible;

use crate::database::rows;
use crate::webhooks::{Secrets, VerifyOptions, WebhookHeaders, construct_event};
use crate::{
    CursorStore, Database, Environment, Error, FollowOptions, Mode, SystemEnvironment, Waybill, WebhookError,
    WebhookEvent,
};

const IS_NEW: &str = "
INSERT INTO waybill_events (event_id, received_at_ms) VALUES ($1, CAST(CAST($2 AS TEXT) AS BIGINT))
ON CONFLICT (event_id) DO NOTHING RETURNING event_id";
// The row's lock keeps two events of an order apart.
const IS_NEXT: &str = "
INSERT INTO waybill_sequences (order_id, last_sequence) VALUES ($1, CAST(CAST($2 AS TEXT) AS BIGINT))
ON CONFLICT (order_id) DO UPDATE SET last_sequence = excluded.last_sequence
WHERE waybill_sequences.last_sequence < excluded.last_sequence RETURNING order_id";
const FORGET: &str = "
DELETE FROM waybill_events WHERE received_at_ms < CAST(CAST($1 AS TEXT) AS BIGINT) RETURNING event_id";
const LOAD: &str = "SELECT feed_cursor FROM waybill_cursors WHERE reader = $1";
const SAVE: &str = "
INSERT INTO waybill_cursors (reader, feed_cursor) VALUES ($1, $2)
ON CONFLICT (reader) DO UPDATE SET feed_cursor = excluded.feed_cursor RETURNING reader";

/// Does the work of one event, in the transaction that also stores its id. It only updates local orders that exist. If it
/// fails, nothing is stored, and the event comes again.
pub trait Apply<D: Database>: Send + Sync {
    fn apply(
        &self,
        event: &WebhookEvent,
        transaction: &mut D::Transaction,
    ) -> impl Future<Output = Result<(), D::Error>> + Send;

    /// Called instead for an event older than the last one of its order, to record what matters on its own.
    fn on_stale(
        &self,
        _event: &WebhookEvent,
        _transaction: &mut D::Transaction,
    ) -> impl Future<Output = Result<(), D::Error>> + Send {
        async { Ok(()) }
    }

    /// Called when a webhook is not applied because it is refused, with [`WebhookError::reason`], or of the other mode, with
    /// `other_mode`; log the reason.
    fn on_refused(&self, _reason: &'static str) {}
}

/// What became of an event. Answer 200 in every case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receipt {
    Applied,
    Duplicate,
    /// Older than the last event of its order.
    Stale,
    OtherMode,
}

impl Receipt {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Duplicate => "duplicate",
            Self::Stale => "stale",
            Self::OtherMode => "other_mode",
        }
    }
}

/// Why a webhook was not applied.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError<E> {
    /// It cannot be trusted: answer 401.
    #[error(transparent)]
    Refused(WebhookError),
    /// The work or the database failed: answer 503, and the service sends the webhook again.
    #[error("{0}")]
    Failed(E),
}

/// Applies events with the tables `waybill_events`, `waybill_sequences` and `waybill_cursors` of [`crate::TABLES`].
#[derive(Clone, Debug)]
pub struct Receiver<D> {
    database: D,
    secrets: Secrets,
    mode: Mode,
    options: VerifyOptions,
}

impl<D: Database> Receiver<D> {
    /// Events of the other mode are ignored, because their references may be the same.
    pub fn new(database: D, secrets: Secrets, mode: Mode, options: VerifyOptions) -> Self {
        Self { database, secrets, mode, options }
    }

    /// Verifies a webhook and applies its event.
    ///
    /// # Errors
    /// When it cannot be trusted, or the work fails.
    pub async fn receive(
        &self,
        raw_body: &[u8],
        headers: &(impl WebhookHeaders + ?Sized),
        apply: &impl Apply<D>,
    ) -> Result<Receipt, ReceiveError<D::Error>> {
        let event = construct_event(raw_body, headers, &self.secrets, &self.options);
        let event = event.map_err(|error| {
            apply.on_refused(error.reason());
            ReceiveError::Refused(error)
        })?;
        if event.mode != self.mode.as_str() {
            apply.on_refused(Receipt::OtherMode.as_str());
        }
        self.accept(&event, apply).await.map_err(ReceiveError::Failed)
    }

    /// Applies an event that is trusted already, because it comes from the feed.
    ///
    /// # Errors
    /// When the work fails.
    pub async fn accept(&self, event: &WebhookEvent, apply: &impl Apply<D>) -> Result<Receipt, D::Error> {
        if event.mode != self.mode.as_str() {
            return Ok(Receipt::OtherMode);
        }
        let mut transaction = self.database.begin().await?;
        let receipt = if !self.is_new(&mut transaction, event).await? {
            Receipt::Duplicate
        } else if self.is_next(&mut transaction, event).await? {
            apply.apply(event, &mut transaction).await?;
            Receipt::Applied
        } else {
            apply.on_stale(event, &mut transaction).await?;
            Receipt::Stale
        };
        self.database.commit(transaction).await?;
        Ok(receipt)
    }

    /// Follows the feed into the same tables, under a name for this reader, until its future is dropped.
    ///
    /// # Errors
    /// When the work fails, the modes differ, or waiting cannot end an error, such as an invalid key.
    pub async fn follow(
        &self,
        client: &Waybill,
        reader: &str,
        apply: &impl Apply<D>,
        options: FollowOptions,
        mut on_receipt: impl FnMut(&WebhookEvent, Receipt) + Send,
    ) -> Result<Infallible, D::Error> {
        if client.mode() != self.mode {
            return Err(Error::Argument("the receiver and the key have different modes").into());
        }
        let cursors = Cursors { database: &self.database, reader };
        let mut events = client.events.follow(cursors, options).await?;
        loop {
            let event = events.next().await?;
            let receipt = self.accept(&event, apply).await?;
            on_receipt(&event, receipt);
        }
    }

    /// Forgets the ids of events received before a time. Keep 30 days or more: the service sends none again after that.
    pub async fn forget(&self, before_ms: i64) -> Result<usize, D::Error> {
        Ok(rows(&self.database, FORGET, &[&before_ms.to_string()]).await?.len())
    }

    async fn is_new(&self, transaction: &mut D::Transaction, event: &WebhookEvent) -> Result<bool, D::Error> {
        let now = self.options.now_seconds.map_or_else(|| SystemEnvironment.now_ms(), |now| now * 1_000);
        let inserted = self.database.rows(transaction, IS_NEW, &[&event.id, &now.to_string()]).await?;
        Ok(inserted.len() == 1)
    }

    /// Events without an order, or of a later form, wait for no others.
    async fn is_next(
        &self,
        transaction: &mut D::Transaction,
        event: &WebhookEvent,
    ) -> Result<bool, D::Error> {
        let order_id = event.order.as_ref().map(|order| order.id.as_str()).filter(|id| !id.is_empty());
        let (Some(order_id), Some(sequence)) = (order_id, event.sequence) else {
            return Ok(true);
        };
        let parameters = [order_id, &sequence.to_string()];
        Ok(self.database.rows(transaction, IS_NEXT, &parameters).await?.len() == 1)
    }
}

struct Cursors<'a, D> {
    database: &'a D,
    reader: &'a str,
}

impl<D: Database> CursorStore for Cursors<'_, D> {
    type Error = D::Error;

    async fn load(&self) -> Result<Option<String>, D::Error> {
        let found = rows(self.database, LOAD, &[self.reader]).await?;
        Ok(found.into_iter().flatten().next().flatten())
    }

    async fn save(&self, cursor: &str) -> Result<(), D::Error> {
        rows(self.database, SAVE, &[self.reader, cursor]).await?;
        Ok(())
    }
}

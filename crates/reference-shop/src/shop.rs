//! The shop: its state, its orders and its received webhooks.

use std::sync::{Arc, PoisonError, RwLock};

use diesel_migrations::{EmbeddedMigrations, embed_migrations};
use domain::Clock;
use postgres::{Database, Work};
use settings::{Secret, SettingErrors, Settings};
use waybill_client::{ClientOptions, Environment, Waybill};

use crate::store::{orders, webhooks};
use crate::webhooks::Pause;
use crate::{LocalOrder, LocalOrderId, NewOrder, ReceivedWebhook, ShopError, ShopSettings};

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations");
/// The largest page.
const PAGE_MAX: u32 = 1_000;

/// The backend of a small shop. Clones share one shop.
#[derive(Clone)]
pub struct Shop {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) settings: ShopSettings,
    pub(crate) clock: Clock,
    pub(crate) client: Waybill,
    pub(crate) pause: Pause,
    database: Database,
    api_key: RwLock<Secret>,
    webhook_secret: RwLock<Option<Secret>>,
}

/// The client's clock, which a test can move.
struct ShopEnvironment(Clock);

impl Environment for ShopEnvironment {
    fn now_ms(&self) -> i64 {
        self.0.now().timestamp_millis()
    }
}

fn client(settings: &ShopSettings, clock: &Clock) -> Result<Waybill, ShopError> {
    let options = ClientOptions {
        attempt_timeout: settings.request_timeout(),
        deadline: settings.request_timeout(),
        // The shop's staff decide about retries.
        attempts_max: 1,
        app_info: Some(concat!("waybill-reference-shop/", env!("CARGO_PKG_VERSION")).into()),
        environment: Arc::new(ShopEnvironment(clock.clone())),
        ..ClientOptions::default()
    };
    Ok(Waybill::new(settings.api_key.expose(), settings.base_url.as_str(), options)?)
}

impl Shop {
    /// Opens the shop and migrates its database first.
    ///
    /// # Errors
    /// When the settings are invalid or the database is unreachable.
    pub async fn open(settings: ShopSettings) -> Result<Self, ShopError> {
        Self::open_with_clock(settings, Clock::system()).await
    }

    /// As [`Shop::open`], with a clock that a test can move.
    ///
    /// # Errors
    /// As [`Shop::open`].
    pub async fn open_with_clock(settings: ShopSettings, clock: Clock) -> Result<Self, ShopError> {
        let mut errors = SettingErrors::default();
        settings.check(&mut errors);
        if !errors.is_empty() {
            return Err(ShopError::Settings(errors));
        }
        postgres::migrate(&settings.database, vec![MIGRATIONS]).await.map_err(ShopError::Migration)?;
        let inner = Inner {
            client: client(&settings, &clock)?,
            database: Database::new(&settings.database)?,
            api_key: RwLock::new(settings.api_key.clone()),
            webhook_secret: RwLock::new(settings.webhook_secret.clone()),
            pause: Pause::default(),
            clock,
            settings,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Confirms a customer's order: only stores it, so that an outage of the delivery service cannot affect it. Call
    /// [`Shop::sync_order`] afterwards, once.
    ///
    /// # Errors
    /// When the order is already confirmed, its id is invalid, or the database cannot store it.
    pub async fn confirm_order(&self, order: NewOrder) -> Result<LocalOrderId, ShopError> {
        let id = LocalOrderId::parse(&order.order_reference)?;
        let body = serde_json::to_string(&order)?;
        let inserted =
            self.read(async |conn| orders::insert(conn, &id, &body, self.inner.clock.now()).await).await?;
        if inserted { Ok(id) } else { Err(ShopError::OrderExists(id)) }
    }

    /// An order of the shop.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn order(&self, id: &LocalOrderId) -> Result<Option<LocalOrder>, ShopError> {
        self.read(async |conn| orders::find(conn, id).await).await
    }

    /// The newest orders, at most `limit` and at most 1,000.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn orders(&self, limit: u32) -> Result<Vec<LocalOrder>, ShopError> {
        self.read(async |conn| orders::newest(conn, limit.min(PAGE_MAX)).await).await
    }

    /// The verified webhooks with an arrival number greater than `after` (0 for the first), in order of arrival, at
    /// most `limit` and at most 1,000.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn received(&self, after: i64, limit: u32) -> Result<Vec<ReceivedWebhook>, ShopError> {
        self.read(async |conn| webhooks::page(conn, after, limit.min(PAGE_MAX)).await).await
    }

    /// Sets the key of later requests: after a rotation, or when the shop goes live.
    pub fn set_api_key(&self, key: Secret) {
        *self.inner.api_key.write().unwrap_or_else(PoisonError::into_inner) = key;
    }

    /// Sets the secret that verifies later webhooks.
    pub fn set_webhook_secret(&self, secret: Secret) {
        *self.inner.webhook_secret.write().unwrap_or_else(PoisonError::into_inner) = Some(secret);
    }

    /// Simulates an outage: answers the next `times` webhooks with `status` without reading them, so that the service
    /// retries. Real shops do not need this.
    pub fn pause_answers(&self, status: u16, times: u32) {
        self.inner.pause.set(status, times);
    }

    pub(crate) fn api_key(&self) -> Secret {
        self.inner.api_key.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn webhook_secret(&self) -> Option<Secret> {
        self.inner.webhook_secret.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) async fn read<R, F>(&self, work: F) -> Result<R, ShopError>
    where
        F: for<'r> Work<'r, Result<R, ShopError>>,
    {
        self.inner.database.read(work).await
    }

    pub(crate) async fn transaction<R, F>(&self, work: F) -> Result<R, ShopError>
    where
        F: for<'r> Work<'r, Result<R, ShopError>>,
    {
        self.inner.database.transaction(work).await
    }
}

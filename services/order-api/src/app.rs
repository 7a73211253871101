//! What the service holds, and how it is put together.

use std::sync::Arc;

use actix_web::web as actix;
use anyhow::Context as _;
use chassis::{Chassis, Running};
use domain::{Clock, Entropy, KeySegment, Phone, TrackingCode};
use internal_api::keys::KeysClient;
use internal_api::ordering::OrderingClient;
use internal_api::wallet::WalletClient;
use internal_api::webhooks::WebhooksClient;
use internal_api::{Peer, PeerOptions};
use outbox::OutboxNotifier;
use postgres::{Batcher, BatcherOptions, Database};
use url::Url;
use web::{FailureLimits, Tasks};

use crate::address_limits::TrackingLimit;
use crate::commands::create_order::{Intent, IntentBatch, IntentOutcome, Payment, PaymentBatch};
use crate::commands::erase_personal_data::keep_erasing;
use crate::commands::note_retries::note_retries;
use crate::commands::recover_pending::recover_pending;
use crate::commands::run_simulations::run_simulations;
use crate::consumers::VerdictNews;
use crate::limits::{RateLimits, forget_quiet_keys};
use crate::retries::Retries;
use crate::routes::{self, Description};
use crate::settings::OrderApiSettings;
use crate::testers::Testers;
use crate::verdicts::{KeyVerdicts, OrderingVerdicts};

/// Each drops an entry or two of what is kept in memory.
const NEWS_AT_ONCE: u16 = 16;

/// Time, randomness, and where the world finds us: what decisions need besides the database.
#[derive(Clone)]
pub struct Ambient {
    pub clock: Clock,
    pub entropy: Entropy,
    /// The origin of tracking pages, without a path.
    pub public_url: Url,
}

impl Ambient {
    /// The page that shows a parcel's way to whoever holds its code.
    pub fn tracking_url(&self, code: &TrackingCode) -> String {
        format!("{}/track/{code}", self.public_url.as_str().trim_end_matches('/'))
    }
}

/// Everything the handlers, consumers and workers share.
pub struct App {
    pub ambient: Ambient,
    pub database: Database,
    pub intents: Batcher<Intent, IntentOutcome>,
    pub payments: Batcher<Payment, ()>,
    pub testers: Testers,
    pub retries: Retries,
    pub notifier: OutboxNotifier,
    pub wallet: WalletClient,
    pub webhooks: WebhooksClient,
    pub keys: KeyVerdicts,
    pub ordering: OrderingVerdicts,
    pub limits: Arc<RateLimits>,
    pub tracking: TrackingLimit,
    pub failures: FailureLimits,
    pub tasks: Tasks,
    pub settings: OrderApiSettings,
}

impl App {
    fn new(settings: OrderApiSettings, chassis: &Chassis, retries: Retries) -> anyhow::Result<Arc<Self>> {
        let (database, clock) = (chassis.unit.database.clone(), chassis.unit.clock.clone());
        let ambient = Ambient {
            clock: clock.clone(),
            entropy: chassis.unit.entropy.clone(),
            public_url: settings.public.url.clone(),
        };
        let peer = |service, base: &Url| {
            Peer::new(service, base.clone(), &settings.internal.token, PeerOptions::default())
        };
        let testers = Testers::default();
        let segment = KeySegment::new(&settings.brand.key_segment).context("WAYBILL_BRAND__KEY_SEGMENT")?;
        let keys = KeysClient(peer("key-management", &settings.peers.key_management)?);
        let ordering = OrderingClient(peer("portal-api", &settings.peers.portal_api)?);
        Ok(Arc::new(Self {
            intents: Batcher::start(
                "order_intents",
                database.clone(),
                BatcherOptions::default(),
                IntentBatch { ambient: ambient.clone(), testers: testers.clone() },
            ),
            payments: Batcher::start(
                "order_payments",
                database.clone(),
                BatcherOptions::default(),
                PaymentBatch(ambient.clone()),
            ),
            testers,
            retries,
            notifier: chassis.unit.outbox.clone(),
            wallet: WalletClient(peer("wallet", &settings.peers.wallet)?),
            webhooks: WebhooksClient(peer("webhook-dispatcher", &settings.peers.webhook_dispatcher)?),
            keys: KeyVerdicts::new(keys, segment, clock.clone()),
            ordering: OrderingVerdicts::new(ordering, clock.clone()),
            limits: Arc::new(RateLimits::new(&settings.limits, clock.clone())),
            tracking: TrackingLimit::new(&settings.limits, &clock),
            failures: FailureLimits::new(
                settings.limits.failures_at_once(),
                settings.limits.trusted_proxies.clone(),
                &clock,
            ),
            tasks: chassis.tasks.clone(),
            ambient,
            database,
            settings,
        }))
    }
}

/// Puts the service together.
///
/// # Errors
/// When a setting is not usable or an address is taken.
pub fn start(settings: &OrderApiSettings, mut chassis: Chassis) -> anyhow::Result<Running> {
    Phone::load_numbering_plans();
    let (retries, seen) = Retries::new();
    let app = App::new(settings.clone(), &chassis, retries)?;
    chassis.relay();
    let recovered = Arc::clone(&app);
    chassis.worker("recovery", |stop| recover_pending(recovered, stop));
    let simulated = Arc::clone(&app);
    chassis.worker("simulations", |stop| run_simulations(simulated, stop));
    let noted = Arc::clone(&app);
    chassis.worker("retries", |stop| note_retries(noted, seen, stop));
    let erased = Arc::clone(&app);
    chassis.worker("personal-data", |stop| keep_erasing(erased, stop));
    let limits = Arc::clone(&app.limits);
    chassis.worker("quiet-keys", |stop| forget_quiet_keys(limits, stop));
    chassis.consume("verdict-news", VerdictNews::queue(), NEWS_AT_ONCE, VerdictNews(Arc::clone(&app)));

    let (public_url, portal_url) = (&settings.public.url, settings.public.portal_url.as_ref());
    let description = Description::new(&settings.brand, public_url, portal_url);
    let description = actix::Data::new(description);
    let (data, token) = (actix::Data::from(app), actix::Data::new(settings.internal.clone()));
    let public = {
        let data = data.clone();
        move |config: &mut actix::ServiceConfig| {
            config.app_data(data.clone()).app_data(description.clone()).configure(routes::public);
        }
    };
    chassis.listen_public(public)?;
    chassis.start(move |config| {
        config.app_data(data.clone()).app_data(token.clone()).configure(routes::internal);
    })
}

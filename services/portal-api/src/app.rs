//! What the service holds, and how it is put together.

use events::queues;
use std::sync::Arc;

use actix_web::web::Data;
use anyhow::Context as _;
use chassis::{Chassis, Running};
use domain::{Clock, Entropy};
use messaging::Queue;
use outbox::OutboxNotifier;
use postgres::Database;
use settings::Environment;
use tokio::sync::Semaphore;
use web::{FailureLimits, Tasks};

use crate::commands::prune::keep_pruning;
use crate::consumers::{FactsConsumer, NewsConsumer, WarningsConsumer};
use crate::domain::{Links, Origins, Place, Role};
use crate::live_orders::LiveOrders;
use crate::mail::{Mailbox, Seal, Transport, keep_sending};
use crate::pages::Pages;
use crate::passwords::Passwords;
use crate::peers::Peers;
use crate::routes;
use crate::routes::config::PortalConfig;
use crate::routes::pages::PageHeaders;
use crate::session_watch::{SessionWatch, keep_checking};
use crate::settings::{Limits, Pages as PagesSettings, PortalSettings};
use crate::status_changes::StatusChanges;

/// Handled at once; each is one short transaction.
const FACTS_AT_ONCE: u16 = 8;
const WARNINGS_AT_ONCE: u16 = 4;
const NEWS_AT_ONCE: u16 = 256;
/// Small tasks under way whose callers have their answers already.
const LATER_MAX: usize = 256;

/// What handlers, commands and consumers share. Cheap to clone.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) database: Database,
    pub(crate) clock: Clock,
    pub(crate) entropy: Entropy,
    pub(crate) notifier: OutboxNotifier,
    pub(crate) passwords: Passwords,
    pub(crate) peers: Peers,
    pub(crate) live_orders: Arc<LiveOrders>,
    pub(crate) status_changes: Arc<StatusChanges>,
    pub(crate) session_watch: Arc<SessionWatch>,
    pub(crate) tasks: Tasks,
    later: Arc<Semaphore>,
    pub(crate) origins: Origins,
    pub(crate) links: Links,
    pub(crate) mailbox: Mailbox,
    pub(crate) limits: Limits,
    pub(crate) failures: Arc<FailureLimits>,
    pub(crate) plans: Arc<[String]>,
    pub(crate) operator_token: settings::Secret,
    /// Everywhere but in a local stack, which has no TLS.
    pub(crate) secure_cookies: bool,
    pub(crate) config: Arc<PortalConfig>,
    /// `None` when none were built.
    pub(crate) pages: Option<Arc<Pages>>,
    pub(crate) page_headers: Arc<PageHeaders>,
}

impl App {
    fn new(settings: &PortalSettings, chassis: &Chassis) -> anyhow::Result<Self> {
        let zone = settings.region.zone().context("WAYBILL_REGION__TIME_ZONE is no time zone")?;
        Ok(Self {
            database: chassis.unit.database.clone(),
            clock: chassis.unit.clock.clone(),
            entropy: chassis.unit.entropy.clone(),
            notifier: chassis.unit.outbox.clone(),
            passwords: Passwords::start(chassis.unit.entropy.clone())?,
            peers: Peers::new(&settings.peers, &settings.internal)?,
            live_orders: Arc::new(LiveOrders::new(settings.limits.streams_per_business)),
            status_changes: Arc::new(StatusChanges::new(settings.limits.streams_per_business)),
            session_watch: Arc::default(),
            tasks: chassis.tasks.clone(),
            later: Arc::new(Semaphore::new(LATER_MAX)),
            origins: Origins::new(settings.public.url.clone()),
            links: Links::new(settings.public.url.clone()),
            mailbox: Mailbox::new(
                settings.mail.is_enabled(),
                settings.brand.clone(),
                Links::new(settings.public.url.clone()),
                Place { locale: settings.region.locale, zone },
                (Seal::new(&settings.internal.token)?, chassis.unit.entropy.clone()),
            ),
            limits: settings.limits.clone(),
            failures: Arc::new(FailureLimits::new(
                settings.limits.per_address.then_some(settings.limits.failed_authentications),
                settings.limits.trusted_proxies.clone(),
                &chassis.unit.clock,
            )),
            plans: settings.subscription.plan_names().into(),
            operator_token: settings.operator.token.clone(),
            secure_cookies: settings.environment != Environment::Local,
            config: Arc::new(PortalConfig {
                brand: settings.brand.clone(),
                region: settings.region.clone(),
                api_url: settings.public.api_url.clone(),
                mail_enabled: settings.mail.is_enabled(),
                roles: &[Role::Owner, Role::Developer, Role::Viewer],
            }),
            pages: read_pages(&settings.pages)?,
            page_headers: Arc::new(PageHeaders::new(&settings.public.url, &settings.pages)),
        })
    }
}

fn read_pages(settings: &PagesSettings) -> anyhow::Result<Option<Arc<Pages>>> {
    let Some(folder) = &settings.folder else { return Ok(None) };
    let pages = Pages::read(folder)?;
    if pages.is_none() {
        tracing::warn!("WAYBILL_PAGES__FOLDER holds no index.html, so that no pages are served");
    }
    Ok(pages.map(Arc::new))
}

impl App {
    /// Runs what an answer must not tell by the time it takes. Beyond the bound it is left out, which is told in the log.
    pub(crate) fn do_later(&self, work: impl Future<Output = ()> + Send + 'static) {
        match self.later.clone().try_acquire_owned() {
            Ok(place) => self.tasks.begin(async move {
                work.await;
                drop(place);
            }),
            Err(_) => tracing::warn!("too much is to be done later already; something was left out"),
        }
    }
}

/// Puts the service together.
///
/// # Errors
/// When an address cannot be bound, or a part cannot be built from the settings.
pub fn start(settings: &PortalSettings, mut chassis: Chassis) -> anyhow::Result<Running> {
    let app = App::new(settings, &chassis)?;
    chassis.relay();
    chassis.consume("facts", Queue::shared(queues::FACTS), FACTS_AT_ONCE, FactsConsumer(app.clone()));
    let news = NewsConsumer { orders: app.live_orders.clone(), status: app.status_changes.clone() };
    chassis.consume("news", NewsConsumer::queue(), NEWS_AT_ONCE, news);
    chassis.consume(
        "warnings",
        Queue::shared(queues::WARNINGS),
        WARNINGS_AT_ONCE,
        WarningsConsumer(app.clone()),
    );
    if let Some(transport) = Transport::new(&settings.mail, &settings.public.url)? {
        chassis.worker("send-mails", |stop| keep_sending(app.clone(), transport, stop));
    }
    chassis.worker("check-sessions", |stop| keep_checking(app.clone(), stop));
    chassis.worker("prune", |stop| keep_pruning(app.clone(), stop));
    chassis.listen_public(routes::public(Data::new(app.clone())))?;
    chassis.start(routes::internal(Data::new(app), settings.internal.clone()))
}

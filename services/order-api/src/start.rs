//! Puts the service together.

use std::sync::Arc;

use actix_web::web as actix;
use anyhow::Context as _;
use chassis::{Chassis, Running};
use domain::{KeySegment, Phone};
use events::queues;
use internal_api::keys::KeysClient;
use internal_api::ordering::OrderingClient;
use internal_api::wallet::WalletClient;
use internal_api::webhooks::WebhooksClient;
use internal_api::{Peer, PeerOptions};
use messaging::Queue;
use url::Url;
use web::FailureLimits;

use crate::cache::{KeyCache, LiveAccessCache};
use crate::consumers::{CacheInvalidation, Remittances};
use crate::domain::TrackingUrls;
use crate::feed_waiters::FeedWaiters;
use crate::order_events::OrderEvents;
use crate::order_writer::OrderWriter;
use crate::page_slots::PageSlots;
use crate::rate_limits::{RateLimits, TrackingLimit};
use crate::routes::{self, Description, Packages, Site};
use crate::settings::OrderApiSettings;
use crate::state::State;
use crate::workers;

/// An invalidation only drops entries in memory.
const INVALIDATIONS_AT_ONCE: u16 = 16;
/// Each settles one order in a short transaction. A remittance of 2,000 orders must not delay other writes.
const REMITTANCES_AT_ONCE: u16 = 4;

/// # Errors
/// When a setting is not usable or an address cannot be bound.
pub fn start(settings: &OrderApiSettings, mut chassis: Chassis) -> anyhow::Result<Running> {
    Phone::load_numbering_plans();
    let state = Arc::new(state(settings, &chassis)?);
    chassis.relay();
    let (retention, interval) = (settings.personal_data.retention(), settings.personal_data.interval());
    workers::recovery::start(&mut chassis, &state);
    workers::simulations::start(&mut chassis, &state);
    workers::erasure::start(&mut chassis, &state, retention, interval);
    workers::feed::start(&mut chassis, &state);
    workers::search::start(&mut chassis, &state);
    workers::idle_keys::start(&mut chassis, &state);
    let consumer = CacheInvalidation(Arc::clone(&state));
    chassis.consume("cache-invalidation", CacheInvalidation::queue(), INVALIDATIONS_AT_ONCE, consumer);
    let remittances = Remittances(Arc::clone(&state));
    chassis.consume("remittances", Queue::shared(queues::REMITTANCES), REMITTANCES_AT_ONCE, remittances);

    let (public_url, portal_url) = (&settings.public.url, settings.public.portal_url.as_ref());
    let packages = settings.docs.downloads.as_deref().map(Packages::load).unwrap_or_default();
    let site = settings.docs.site.as_deref();
    let site = site.and_then(|folder| Site::load(folder, &settings.brand, public_url, portal_url));
    if site.is_some() {
        chassis.explain_errors(public_url.join("docs/errors/")?.as_str());
    }
    let description = Description::new(&settings.brand, public_url, portal_url, packages, site);
    let description = actix::Data::new(description);
    let (data, token) = (actix::Data::from(state), actix::Data::new(settings.internal.clone()));
    let public = {
        let (data, description) = (data.clone(), description.clone());
        move |config: &mut actix::ServiceConfig| {
            config.app_data(data.clone()).app_data(description.clone()).configure(routes::public);
        }
    };
    chassis.listen_public(public)?;
    chassis.start(move |config| {
        let config = config.app_data(data.clone()).app_data(description.clone()).app_data(token.clone());
        config.configure(routes::internal);
    })
}

fn state(settings: &OrderApiSettings, chassis: &Chassis) -> anyhow::Result<State> {
    let OrderApiSettings { peers, limits, .. } = settings;
    let (unit, clock) = (chassis.unit.clone(), &chassis.unit.clock);
    let peer = |service, base: &Url| {
        Peer::new(service, base.clone(), peers.ca.as_ref(), &settings.internal.token, PeerOptions::default())
    };
    let segment = KeySegment::new(&settings.brand.key_segment).context("WAYBILL_BRAND__KEY_SEGMENT")?;
    let keys = KeysClient(peer("key-management", &peers.key_management)?);
    let ordering = OrderingClient(peer("portal-api", &peers.portal_api)?);
    let tracking_urls = TrackingUrls::new(&settings.public.url);
    let order_events = OrderEvents::new(&unit, tracking_urls.clone());
    Ok(State {
        brand: settings.brand.name.clone(),
        webhook_header_prefix: settings.brand.header_prefix.clone(),
        fleet_tokens: settings.fleet.tokens(),
        attempts: settings.delivery.attempts(),
        announces_requests: settings.events.attempts,
        patience: settings.delivery.patience(),
        keys: KeyCache::new(keys, segment, clock.clone()),
        trusted_proxies: limits.trusted_proxies.clone(),
        live_access: LiveAccessCache::new(ordering, clock.clone()),
        wallet: WalletClient(peer("wallet", &peers.wallet)?),
        webhooks: WebhooksClient(peer("webhook-dispatcher", &peers.webhook_dispatcher)?),
        order_writer: OrderWriter::start(&unit, &order_events),
        order_events,
        feed_waiters: FeedWaiters::default(),
        page_slots: PageSlots::of(settings.database.pool_size),
        tracking_urls,
        rate_limits: RateLimits::new(limits.key_rate(), clock.clone()),
        tracking_limit: TrackingLimit::new(limits.per_address, limits.trusted_proxies.clone(), clock),
        authentication_failures: FailureLimits::new(
            limits.failures_at_once(),
            limits.trusted_proxies.clone(),
            clock,
        ),
        tasks: chassis.tasks.clone(),
        unit,
    })
}

//! The state that handlers, consumers and workers share.

use internal_api::wallet::WalletClient;
use internal_api::webhooks::WebhooksClient;
use outbox::Unit;
use settings::{Networks, Tokens};
use web::{FailureLimits, Tasks};

use crate::cache::{KeyCache, LiveAccessCache};
use crate::domain::{AttemptRules, Patience, TrackingUrls};
use crate::feed_waiters::FeedWaiters;
use crate::order_events::OrderEvents;
use crate::order_writer::OrderWriter;
use crate::page_slots::PageSlots;
use crate::rate_limits::{RateLimits, TrackingLimit};

pub struct State {
    pub unit: Unit,
    pub tracking_urls: TrackingUrls,
    /// The product name on pages and in messages.
    pub brand: String,
    /// Begins the names of webhook headers.
    pub webhook_header_prefix: String,
    pub fleet_tokens: Tokens,
    pub attempts: AttemptRules,
    /// Whether what a business asks for after a failure is an event.
    pub announces_requests: bool,
    /// Before an order needs attention.
    pub patience: Patience,
    pub keys: KeyCache,
    pub trusted_proxies: Networks,
    pub live_access: LiveAccessCache,
    pub wallet: WalletClient,
    pub webhooks: WebhooksClient,
    pub order_events: OrderEvents,
    pub feed_waiters: FeedWaiters,
    pub order_writer: OrderWriter,
    pub page_slots: PageSlots,
    pub rate_limits: RateLimits,
    pub tracking_limit: TrackingLimit,
    pub authentication_failures: FailureLimits,
    pub tasks: Tasks,
}

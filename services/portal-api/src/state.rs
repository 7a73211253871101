//! Shared by routes, consumers, workers, commands and queries.

use std::sync::Arc;

use outbox::Unit;
use settings::{Brand, Secret, TrustedProxies};
use tokio::sync::Semaphore;
use url::Url;
use web::{FailureLimits, Tasks};

use crate::domain::{ApprovalPolicy, AuditRetention, Lifetimes, Links, Locale};
use crate::live_updates::{OpenPages, OrderStreams, SessionMonitor, StatusStreams};
use crate::mail::Mailbox;
use crate::passwords::Passwords;
use crate::peers::Peers;
use crate::second_factor::SecondFactors;
use crate::single_sign_on::{BusinessProviders, StaffSignOn};

/// Background tasks that run at once. Further ones are dropped.
const BACKGROUND_MAX: usize = 256;

pub(crate) struct State {
    pub(crate) unit: Unit,
    pub(crate) peers: Peers,
    pub(crate) passwords: Passwords,
    pub(crate) second_factors: SecondFactors,
    /// `None` if the operator has no identity provider.
    pub(crate) single_sign_on: Option<StaffSignOn>,
    pub(crate) business_sso: BusinessProviders,
    pub(crate) mailbox: Arc<Mailbox>,
    /// How long sessions of users last.
    pub(crate) user_sessions: Lifetimes,
    /// How long sessions of the console last.
    pub(crate) console_sessions: Lifetimes,
    pub(crate) audit_retention: AuditRetention,
    pub(crate) open_pages: OpenPages,
    pub(crate) order_streams: OrderStreams,
    pub(crate) status_streams: StatusStreams,
    pub(crate) session_monitor: Arc<SessionMonitor>,
    pub(crate) tasks: Tasks,
    pub(crate) background: BackgroundTasks,
    pub(crate) links: Links,
    /// Whether log-ins and sign-ups are also limited per client address.
    pub(crate) limit_per_address: bool,
    pub(crate) trusted_proxies: TrustedProxies,
    pub(crate) failure_limits: FailureLimits,
    pub(crate) plans: Vec<String>,
    pub(crate) operator_token: Secret,
    pub(crate) approvals: ApprovalPolicy,
    /// False only in a local stack, which has no TLS.
    pub(crate) secure_cookies: bool,
    pub(crate) public_config: PublicConfig,
}

/// Settings that the pages show.
pub(crate) struct PublicConfig {
    pub(crate) brand: Brand,
    pub(crate) locale: Locale,
    /// An IANA name.
    pub(crate) time_zone: String,
    /// The integrators' `{base_url}`, ending in `/v1`.
    pub(crate) api_url: Url,
}

/// Work that continues after the response, so that the response time reveals nothing about it.
pub(crate) struct BackgroundTasks {
    tasks: Tasks,
    slots: Arc<Semaphore>,
}

impl BackgroundTasks {
    pub(crate) fn new(tasks: Tasks) -> Self {
        Self { tasks, slots: Arc::new(Semaphore::new(BACKGROUND_MAX)) }
    }

    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        match self.slots.clone().try_acquire_owned() {
            Ok(slot) => self.tasks.begin(async move {
                work.await;
                drop(slot);
            }),
            Err(_) => tracing::warn!("background task dropped: too many are running"),
        }
    }
}

//! Shared by routes, consumers, workers, commands and queries.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::TimeDelta;
use domain::BusinessId;
use identity::passwords::Passwords;
use identity::second_factors::Factors;
use identity::sessions::Lifetimes;
use messaging::Publisher;
use outbox::Unit;
use settings::{Brand, Networks, Tokens};
use tokio::sync::{Notify, Semaphore};
use url::Url;
use web::{FailureLimits, FairSlots, Tasks};

use crate::approvals::domain::ApprovalPolicy;
use crate::audit::domain::{AuditRetention, Author};
use crate::console::domain::LogInWays;
use crate::domain::FactorPolicy;
use crate::domain::{Links, Locale};
use crate::live_updates::{OpenPages, OrderStreams, SessionMonitor, StatusStreams};
use crate::mail::Mailbox;
use crate::peers::Peers;
use crate::single_sign_on::providers::{BusinessProviders, StaffSignOn};

/// Exports that run at once on this instance: of one user, person or token, and of one business.
const EXPORTS_OF_ONE_MAX: usize = 2;
const EXPORTS_OF_BUSINESS_MAX: usize = 4;
/// Background tasks that run at once. Further ones are dropped.
const BACKGROUND_MAX: usize = 256;

pub(crate) struct State {
    pub(crate) unit: Unit,
    /// Of events that may be lost.
    pub(crate) publisher: Publisher,
    pub(crate) peers: Peers,
    pub(crate) passwords: Passwords,
    pub(crate) factor_policy: FactorPolicy,
    pub(crate) factors: Factors,
    /// `None` if the operator has no identity provider.
    pub(crate) single_sign_on: Option<StaffSignOn>,
    pub(crate) business_sso: BusinessProviders,
    pub(crate) mailbox: Arc<Mailbox>,
    /// How long sessions of users last.
    pub(crate) user_sessions: Lifetimes,
    /// How long sessions of the console last.
    pub(crate) console_sessions: Lifetimes,
    pub(crate) audit_retention: AuditRetention,
    /// How long the books of a closed business are kept.
    pub(crate) closed_books_kept: TimeDelta,
    pub(crate) open_pages: OpenPages,
    pub(crate) order_streams: OrderStreams,
    pub(crate) status_streams: StatusStreams,
    pub(crate) session_monitor: Arc<SessionMonitor>,
    pub(crate) tasks: Tasks,
    pub(crate) background: BackgroundTasks,
    pub(crate) exports: Exports,
    /// Wakes the worker that writes exports.
    pub(crate) export_waiting: Notify,
    /// Of large responses.
    pub(crate) masking: FairSlots<BusinessId>,
    pub(crate) links: Links,
    /// Whether log-ins and sign-ups are also limited per client address.
    pub(crate) limit_per_address: bool,
    pub(crate) trusted_proxies: Networks,
    pub(crate) failure_limits: FailureLimits,
    pub(crate) plans: Vec<String>,
    pub(crate) operator_tokens: Tokens,
    pub(crate) approvals: ApprovalPolicy,
    /// False only in a local stack, which has no TLS.
    pub(crate) secure_cookies: bool,
    pub(crate) public_config: PublicConfig,
}

impl State {
    pub(crate) fn staff_log_in_ways(&self) -> LogInWays<'_> {
        LogInWays {
            issuer: self.single_sign_on.as_ref().map(|sso| sso.issuer()),
            passwords: self.single_sign_on.as_ref().is_none_or(|sso| sso.allows_passwords),
        }
    }
}

/// Settings that the pages show.
pub(crate) struct PublicConfig {
    pub(crate) brand: Brand,
    pub(crate) locale: Locale,
    /// An IANA name.
    pub(crate) time_zone: String,
    /// The integrators' `{base_url}`, ending in `/v1`.
    pub(crate) api_url: Url,
    /// The addresses that webhooks come from.
    pub(crate) webhook_addresses: Vec<String>,
    /// Whether endpoints may subscribe to what businesses ask for after a failed delivery.
    pub(crate) attempt_events: bool,
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

/// The exports that run. Each keeps a connection, and reads pages from the database.
#[derive(Default)]
pub(crate) struct Exports(Arc<Mutex<HashMap<String, usize>>>);

/// Dropping it frees the slot.
pub(crate) struct ExportSlot {
    running: Arc<Mutex<HashMap<String, usize>>>,
    of: Vec<String>,
}

impl Exports {
    /// `None` if the author, or the business, has too many.
    pub(crate) fn begin(&self, author: &Author, business: Option<BusinessId>) -> Option<ExportSlot> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let limits = [
            Some((author.key(), EXPORTS_OF_ONE_MAX)),
            business.map(|business| (business.to_string(), EXPORTS_OF_BUSINESS_MAX)),
        ];
        let limits: Vec<(String, usize)> = limits.into_iter().flatten().collect();
        if limits.iter().any(|(of, max)| running.get(of).is_some_and(|count| count >= max)) {
            return None;
        }
        let of: Vec<String> = limits.into_iter().map(|(of, _)| of).collect();
        for of in &of {
            *running.entry(of.clone()).or_default() += 1;
        }
        Some(ExportSlot { running: self.0.clone(), of })
    }
}

impl Drop for ExportSlot {
    fn drop(&mut self) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        for of in &self.of {
            if let Some(count) = running.get_mut(of) {
                *count -= 1;
            }
        }
        running.retain(|_, count| *count > 0);
    }
}

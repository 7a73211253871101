//! What this process may send, and which endpoints the next claims ask for. [`Schedule`] owns all of the sender's state: plain
//! structures behind one mutex that no method holds while it waits.
//!
//! | part | owns |
//! | --- | --- |
//! | [`endpoint`] | of each endpoint: its due deliveries ([`queue`]), its slots and its rate ([`bucket`]) |
//! | [`turns`] | the endpoints with due deliveries, in the order of their turns |
//! | [`choice`] | what a claim asks for, and its result |
//! | [`in_flight`] | deliveries in flight, and their leases |
//! | [`members`] | the running instances, and which of them an endpoint prefers |
//! | [`test_slots`] | connection tests in flight |
//!
//! Invariants: a delivery takes a slot only if its endpoint, its business, its mode and the process have one left, and its
//! endpoint's rate a token. A claim takes its slots before it begins. All slots are free again when all guards are dropped.

mod bucket;
mod choice;
mod endpoint;
mod guards;
mod in_flight;
mod members;
mod queue;
mod state;
mod test_slots;
mod turns;

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::{BusinessId, EndpointId, Mode, WebhookDeliveryId};
use strum::VariantArray;
use tokio::sync::Notify;
use tokio::time::Instant;

use self::endpoint::Limit;
use self::state::State;
use crate::store::{Lease, Member, Outcome, Recorded};

pub(super) use self::choice::{Found, Request};
pub(crate) use self::guards::{InFlight, TestSlot};
pub(super) use self::in_flight::Origin;
pub(crate) use self::state::Key;
pub(super) use self::state::Limits;
pub(crate) use self::test_slots::NoTestSlot;

/// Clones share the state.
#[derive(Clone)]
pub(super) struct Schedule(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// One for the claims of each mode: another choice may have another result.
    bells: [Notify; 2],
}

impl Schedule {
    pub(super) fn new(instance: i64, limits: Limits) -> Self {
        let state = Mutex::new(State::new(instance, limits, Instant::now()));
        Self(Arc::new(Shared { state, bells: Default::default() }))
    }

    /// What the next claim asks for; else until when nothing can be claimed, unless [`Schedule::changed`] returns earlier.
    pub(super) fn choose(&self, mode: Mode) -> Result<Request, Option<Instant>> {
        self.change(|state| state.choose(mode, Instant::now()))
    }

    /// Waits until another choice may have another result.
    pub(super) async fn changed(&self, mode: Mode) {
        self.0.bells[mode as usize].notified().await;
    }

    /// The claim has found these. Returns a guard for each.
    pub(super) fn claimed(&self, request: &Request, found: &[Found]) -> Vec<InFlight> {
        self.change(|state| state.claimed(request, found, Instant::now()));
        found.iter().map(|one| self.guard(one.lease, one.endpoint, true)).collect()
    }

    /// The claim has failed.
    pub(super) fn not_claimed(&self, request: &Request) {
        self.change(|state| state.not_claimed(request, Instant::now()));
    }

    /// What this process must not claim.
    pub(super) fn excluded_from_claims(&self) -> Vec<WebhookDeliveryId> {
        self.lock().in_flight.excluded_from_claims()
    }

    /// Whether the view of the instances by which this was chosen is still valid.
    pub(super) fn has_view_of(&self, request: &Request) -> bool {
        let state = self.lock();
        state.members.is_valid(Instant::now()) && state.members.since() == request.view
    }

    /// Deliveries of an endpoint become due after that time.
    pub(super) fn note(&self, (endpoint, business): Key, mode: Mode, after: Duration) {
        let now = Instant::now();
        self.change(|state| state.note((endpoint, business), mode, now + after, now));
    }

    /// Notes what an outcome makes due.
    pub(super) fn note_recorded(&self, outcome: &Outcome, recorded: &Recorded) {
        let key = (outcome.endpoint, outcome.business_id);
        if let Some(after) = recorded.due_in {
            self.note(key, outcome.mode, after);
        }
        for mode in Mode::VARIANTS.iter().filter(|_| recorded.are_others_due) {
            self.note(key, *mode, Duration::ZERO);
        }
    }

    /// The endpoint's own rate limit, as its owner has set it.
    pub(super) fn limit_is(&self, key: Key, limit: i32) {
        self.lock().known(key).set_limit(Limit::Own(limit), Instant::now());
    }

    /// The owner may have changed it.
    pub(super) fn limit_is_unknown(&self, key: Key) {
        self.lock().known(key).set_limit(Limit::Unknown, Instant::now());
    }

    /// The scan has found due deliveries of this endpoint.
    pub(super) fn note_scanned(&self, key: Key, mode: Mode) {
        let now = Instant::now();
        self.change(|state| state.note_scanned(key, mode, now));
    }

    /// To be called now and then.
    pub(super) fn forget_idle(&self) {
        self.lock().forget_idle(Instant::now());
    }

    /// The running instances, as read by a statement that began at that time. True if the view has changed since the last call.
    pub(super) fn update_members(&self, members: &[Member], began: Instant) -> bool {
        self.change(|state| state.update_members(members, began, Instant::now()))
    }

    /// The last digits of the endpoints that prefer this instance. None if all do.
    pub(super) fn preferring_parts(&self) -> Option<String> {
        self.lock().members.parts()
    }

    /// Whether this instance does what one of all must do.
    pub(super) fn is_first(&self) -> bool {
        self.lock().members.is_first(Instant::now())
    }

    /// Counts a delivery as in flight whatever the limits are.
    pub(super) fn insert(&self, lease: Lease, endpoint: EndpointId, mode: Mode) -> InFlight {
        self.change(|state| state.insert(lease, endpoint, mode, Origin::Claimed, Instant::now()));
        self.guard(lease, endpoint, false)
    }

    /// The same for a new delivery to an endpoint without a rate limit of its own. None if a limit is reached.
    pub(super) fn reserve(
        &self,
        lease: Lease,
        endpoint: EndpointId,
        mode: Mode,
        origin: Origin,
    ) -> Option<InFlight> {
        let is_reserved = self.change(|state| state.reserve(lease, endpoint, mode, origin, Instant::now()));
        is_reserved.then(|| self.guard(lease, endpoint, true))
    }

    /// An eager delivery is stored while its outcome is unknown.
    pub(super) fn stored(&self, delivery: WebhookDeliveryId, token: i64) {
        self.lock().in_flight.stored(delivery, token);
    }

    /// Whether the endpoint responds quickly. One without history gets the chance to show it.
    pub(super) fn is_quick(&self, endpoint: EndpointId) -> bool {
        self.lock().endpoints.get(&endpoint).is_none_or(endpoint::Endpoint::is_quick)
    }

    /// Reserves a slot for a connection test.
    pub(super) fn reserve_test(&self, business: BusinessId) -> Result<TestSlot, NoTestSlot> {
        self.lock().tests.reserve(business)?;
        Ok(TestSlot { schedule: self.clone(), business })
    }

    pub(super) fn due_leases(&self) -> Vec<Lease> {
        self.lock().in_flight.due_leases()
    }

    /// The database extended these leases at that time or later.
    pub(super) fn mark_renewed(&self, leases: &[Lease], at: Instant) {
        self.lock().in_flight.mark_renewed(leases, at);
    }

    /// All leases that were due at that time have been renewed.
    pub(super) fn mark_all_renewed(&self, at: Instant) {
        self.lock().in_flight.mark_all_renewed(at);
    }

    /// The deliveries in flight.
    pub(super) fn in_flight(&self) -> usize {
        self.lock().in_flight.len()
    }

    fn guard(&self, lease: Lease, endpoint: EndpointId, has_token: bool) -> InFlight {
        let (schedule, since) = (self.clone(), Instant::now());
        InFlight { schedule, lease, endpoint, since, has_token: has_token.into() }
    }

    /// Changes the state, and wakes the claims for which that matters.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let (result, rings) = {
            let mut state = self.lock();
            (change(&mut state), std::mem::take(&mut state.rings))
        };
        for (bell, _) in self.0.bells.iter().zip(rings).filter(|(_, rings)| *rings) {
            bell.notify_one();
        }
        result
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! A fair queue for expensive work. Permits go round-robin to addresses, and within an address to its accounts: a busy
//! requester delays each other one by at most one permit. When the queue is full, the requester with most waiting entries
//! loses one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Who waits for a permit.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Requester {
    /// Empty if unknown.
    pub(crate) address: String,
    pub(crate) account: String,
}

/// Clones share the queue.
#[derive(Clone)]
pub(crate) struct FairQueue {
    waiting_max: usize,
    state: Arc<Mutex<State>>,
}

struct State {
    free: usize,
    /// In order of arrival.
    waiting: Vec<Waiting>,
    /// Counts the granted permits.
    granted: u64,
    /// The number of the latest permit of each waiting address and account.
    address_served: HashMap<String, u64>,
    account_served: HashMap<Requester, u64>,
}

struct Waiting {
    requester: Requester,
    grant: oneshot::Sender<Permit>,
}

/// Returned to the queue when dropped.
pub(crate) struct Permit(FairQueue);

/// The queue is full.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct QueueFull;

impl FairQueue {
    pub(crate) fn new(parallel: usize, waiting_max: usize) -> Self {
        let state = State {
            free: parallel,
            waiting: Vec::new(),
            granted: 0,
            address_served: HashMap::new(),
            account_served: HashMap::new(),
        };
        Self { waiting_max, state: Arc::new(Mutex::new(state)) }
    }

    /// Waits for a permit. A caller that stops waiting leaves the queue.
    pub(crate) async fn acquire(&self, requester: Requester) -> Result<Permit, QueueFull> {
        let permit = self.enqueue(requester)?;
        // The sender is dropped when the entry is evicted.
        permit.await.map_err(|_| QueueFull)
    }

    fn enqueue(&self, requester: Requester) -> Result<oneshot::Receiver<Permit>, QueueFull> {
        let (grant, permit) = oneshot::channel();
        let mut state = self.lock();
        state.waiting.retain(|waiting| !waiting.grant.is_closed());
        // Newcomers queue behind all current entries, so that they cannot overtake them.
        let granted = state.granted;
        state.address_served.entry(requester.address.clone()).or_insert(granted);
        state.account_served.entry(requester.clone()).or_insert(granted);
        state.waiting.push(Waiting { requester: requester.clone(), grant });
        if state.waiting.len() > self.waiting_max {
            let newest = state.newest_of_busiest();
            if state.waiting.remove(newest).requester == requester && newest == state.waiting.len() {
                return Err(QueueFull);
            }
        }
        let granted = state.grant();
        drop(state);
        self.send(granted);
        Ok(permit)
    }

    /// Must run without the lock: a permit that is not taken is dropped, which locks the queue.
    fn send(&self, granted: Vec<oneshot::Sender<Permit>>) {
        for grant in granted {
            // On failure the permit is dropped, which returns it.
            let _not_taken = grant.send(Permit(self.clone()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Assigns the free permits.
    fn grant(&mut self) -> Vec<oneshot::Sender<Permit>> {
        let mut granted = Vec::new();
        while self.free > 0
            && let Some(next) = self.next()
        {
            let Waiting { requester, grant } = self.waiting.remove(next);
            self.free -= 1;
            self.granted += 1;
            self.address_served.insert(requester.address.clone(), self.granted);
            self.account_served.insert(requester, self.granted);
            granted.push(grant);
        }
        let waiting = &self.waiting;
        self.address_served.retain(|address, _| waiting.iter().any(|one| one.requester.address == *address));
        self.account_served.retain(|requester, _| waiting.iter().any(|one| one.requester == *requester));
        granted
    }

    /// The first entry of the address, and within it the account, whose latest permit is oldest.
    fn next(&self) -> Option<usize> {
        let served = |requester: &Requester| {
            let address = self.address_served.get(&requester.address).copied().unwrap_or_default();
            (address, self.account_served.get(requester).copied().unwrap_or_default())
        };
        (0..self.waiting.len()).min_by_key(|index| served(&self.waiting[*index].requester))
    }

    /// The newest entry of the address and account with most waiting entries.
    fn newest_of_busiest(&self) -> usize {
        let count =
            |is: &dyn Fn(&Requester) -> bool| self.waiting.iter().filter(|one| is(&one.requester)).count();
        let load = |index: &usize| {
            let requester = &self.waiting[*index].requester;
            (count(&|other| other.address == requester.address), count(&|other| other == requester), *index)
        };
        (0..self.waiting.len()).max_by_key(load).unwrap_or_default()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.free += 1;
        state.waiting.retain(|waiting| !waiting.grant.is_closed());
        let granted = state.grant();
        drop(state);
        self.0.send(granted);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn requester(address: &str, account: &str) -> Requester {
        Requester { address: address.to_owned(), account: account.to_owned() }
    }

    /// Takes one permit after the other, and returns the names in order.
    fn run_all(
        first: Permit,
        mut waiting: Vec<(&'static str, oneshot::Receiver<Permit>)>,
    ) -> Vec<&'static str> {
        let (mut order, mut permit) = (Vec::new(), Some(first));
        while permit.take().is_some() {
            for (name, receiver) in &mut waiting {
                if let Ok(next) = receiver.try_recv() {
                    order.push(*name);
                    permit = Some(next);
                }
            }
        }
        order
    }

    #[test]
    fn permits_alternate_between_addresses_and_their_accounts() {
        let queue = FairQueue::new(1, 64);
        let first = queue.acquire(requester("a", "greedy")).now_or_never().unwrap().unwrap();
        let enqueue =
            |name: &'static str, address: &str| (name, queue.enqueue(requester(address, name)).unwrap());
        let waiting = vec![
            enqueue("greedy", "a"),
            enqueue("greedy", "a"),
            enqueue("greedy", "a"),
            enqueue("modest", "a"),
            enqueue("other", "b"),
            enqueue("other", "b"),
        ];
        assert_eq!(run_all(first, waiting), ["greedy", "other", "modest", "other", "greedy", "greedy"]);
        assert!(
            queue.acquire(requester("a", "greedy")).now_or_never().unwrap().is_ok(),
            "the permit is free again"
        );
    }

    #[test]
    fn newcomers_do_not_overtake_the_second_account_of_an_address() {
        let queue = FairQueue::new(1, 64);
        let first = queue.acquire(requester("a", "first")).now_or_never().unwrap().unwrap();
        let enqueue =
            |name: &'static str, address: &str| (name, queue.enqueue(requester(address, name)).unwrap());
        let (mut one, mut two) = (enqueue("one", "a"), enqueue("two", "a"));
        drop(first);
        let permit = one.1.try_recv().unwrap();
        let _newcomers: Vec<_> = ["b", "c", "d"].map(|address| enqueue("new", address)).into();
        drop(permit);
        assert!(two.1.try_recv().is_ok());
    }

    #[test]
    fn a_full_queue_evicts_the_requester_with_most_entries() {
        let queue = FairQueue::new(1, 3);
        let first = queue.acquire(requester("a", "greedy")).now_or_never().unwrap().unwrap();
        let mut greedy: Vec<_> = (0..3).map(|_| queue.enqueue(requester("a", "greedy")).unwrap()).collect();
        assert!(queue.enqueue(requester("a", "greedy")).is_err());
        let modest = queue.enqueue(requester("a", "modest")).unwrap();
        assert!(greedy.pop().unwrap().try_recv().is_err(), "its newest entry was evicted");
        let other = queue.enqueue(requester("b", "other")).unwrap();
        assert!(greedy.pop().unwrap().try_recv().is_err());
        let waiting = vec![("greedy", greedy.pop().unwrap()), ("modest", modest), ("other", other)];
        assert_eq!(run_all(first, waiting).len(), 3);
    }

    #[test]
    fn a_requester_that_stops_waiting_is_skipped() {
        let queue = FairQueue::new(1, 2);
        let first = queue.acquire(requester("a", "x")).now_or_never().unwrap().unwrap();
        drop(queue.enqueue(requester("a", "y")).unwrap());
        let last = queue.enqueue(requester("a", "z")).unwrap();
        assert_eq!(run_all(first, vec![("z", last)]), ["z"]);
    }
}

//! Who is next for something costly, of which little is done at once. Addresses take turns, and so do the accounts of each
//! address: however much one of them asks for, another waits for one turn of each at most. When too many wait, one of
//! whoever has most waiting gives way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Whose turn it is.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Who {
    /// Empty where it is not known.
    pub(crate) address: String,
    pub(crate) account: String,
}

/// Clones share the turns.
#[derive(Clone)]
pub(crate) struct Turns {
    waiting_max: usize,
    state: Arc<Mutex<State>>,
}

struct State {
    free: usize,
    /// In the order of arrival.
    waiting: Vec<Waiting>,
    turns: u64,
    /// The latest turn of those who wait.
    address_served: HashMap<String, u64>,
    account_served: HashMap<Who, u64>,
}

struct Waiting {
    who: Who,
    go: oneshot::Sender<Turn>,
}

/// Over when it is dropped.
pub(crate) struct Turn(Turns);

/// Too many wait already.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Crowded;

impl Turns {
    pub(crate) fn new(at_once: usize, waiting_max: usize) -> Self {
        let state = State {
            free: at_once,
            waiting: Vec::new(),
            turns: 0,
            address_served: HashMap::new(),
            account_served: HashMap::new(),
        };
        Self { waiting_max, state: Arc::new(Mutex::new(state)) }
    }

    /// Waits for a turn. A caller who stops waiting leaves the queue.
    pub(crate) async fn take(&self, who: Who) -> Result<Turn, Crowded> {
        let turn = self.queue(who)?;
        // Dropped unused when another needed the place more.
        turn.await.map_err(|_| Crowded)
    }

    fn queue(&self, who: Who) -> Result<oneshot::Receiver<Turn>, Crowded> {
        let (go, turn) = oneshot::channel();
        let mut state = self.lock();
        state.waiting.retain(|waiting| !waiting.go.is_closed());
        // A newcomer comes after all who wait for their next turn already, however many newcomers there are.
        let turns = state.turns;
        state.address_served.entry(who.address.clone()).or_insert(turns);
        state.account_served.entry(who.clone()).or_insert(turns);
        state.waiting.push(Waiting { who: who.clone(), go });
        if state.waiting.len() > self.waiting_max {
            let newest = state.newest_of_the_greediest();
            if state.waiting.remove(newest).who == who && newest == state.waiting.len() {
                return Err(Crowded);
            }
        }
        let granted = state.grant();
        drop(state);
        self.begin(granted);
        Ok(turn)
    }

    /// Outside of the lock: a turn that nobody takes any more comes back at once.
    fn begin(&self, granted: Vec<oneshot::Sender<Turn>>) {
        for go in granted {
            // Given back when it is dropped with the error.
            let _not_taken = go.send(Turn(self.clone()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Gives the free turns to those who are next.
    fn grant(&mut self) -> Vec<oneshot::Sender<Turn>> {
        let mut granted = Vec::new();
        while self.free > 0
            && let Some(next) = self.next()
        {
            let Waiting { who, go } = self.waiting.remove(next);
            self.free -= 1;
            self.turns += 1;
            self.address_served.insert(who.address.clone(), self.turns);
            self.account_served.insert(who, self.turns);
            granted.push(go);
        }
        let waiting = &self.waiting;
        self.address_served.retain(|address, _| waiting.iter().any(|one| one.who.address == *address));
        self.account_served.retain(|who, _| waiting.iter().any(|one| one.who == *who));
        granted
    }

    /// Of the address, and of its accounts the one, whose latest turn is longest ago: the first who came.
    fn next(&self) -> Option<usize> {
        let served = |who: &Who| {
            let address = self.address_served.get(&who.address).copied().unwrap_or_default();
            (address, self.account_served.get(who).copied().unwrap_or_default())
        };
        (0..self.waiting.len()).min_by_key(|index| served(&self.waiting[*index].who))
    }

    fn newest_of_the_greediest(&self) -> usize {
        let count = |is: &dyn Fn(&Who) -> bool| self.waiting.iter().filter(|one| is(&one.who)).count();
        let greed = |index: &usize| {
            let who = &self.waiting[*index].who;
            (count(&|other| other.address == who.address), count(&|other| other == who), *index)
        };
        (0..self.waiting.len()).max_by_key(greed).unwrap_or_default()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.free += 1;
        state.waiting.retain(|waiting| !waiting.go.is_closed());
        let granted = state.grant();
        drop(state);
        self.0.begin(granted);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn who(address: &str, account: &str) -> Who {
        Who { address: address.to_owned(), account: account.to_owned() }
    }

    /// Takes one turn after the other, and tells whose they were.
    fn play(first: Turn, mut waiting: Vec<(&'static str, oneshot::Receiver<Turn>)>) -> Vec<&'static str> {
        let (mut order, mut turn) = (Vec::new(), Some(first));
        while turn.take().is_some() {
            for (name, receiver) in &mut waiting {
                if let Ok(next) = receiver.try_recv() {
                    order.push(*name);
                    turn = Some(next);
                }
            }
        }
        order
    }

    #[test]
    fn addresses_take_turns_and_so_do_their_accounts() {
        let turns = Turns::new(1, 64);
        let first = turns.take(who("a", "greedy")).now_or_never().unwrap().unwrap();
        let queue = |name: &'static str, address: &str| (name, turns.queue(who(address, name)).unwrap());
        let waiting = vec![
            queue("greedy", "a"),
            queue("greedy", "a"),
            queue("greedy", "a"),
            queue("modest", "a"),
            queue("other", "b"),
            queue("other", "b"),
        ];
        assert_eq!(play(first, waiting), ["greedy", "other", "modest", "other", "greedy", "greedy"]);
        assert!(turns.take(who("a", "greedy")).now_or_never().unwrap().is_ok(), "the turn is free again");
    }

    #[test]
    fn newcomers_do_not_overtake_the_second_person_of_an_address() {
        let turns = Turns::new(1, 64);
        let first = turns.take(who("a", "first")).now_or_never().unwrap().unwrap();
        let queue = |name: &'static str, address: &str| (name, turns.queue(who(address, name)).unwrap());
        let (mut one, mut two) = (queue("one", "a"), queue("two", "a"));
        drop(first);
        let turn = one.1.try_recv().unwrap();
        let _newcomers: Vec<_> = ["b", "c", "d"].map(|address| queue("new", address)).into();
        drop(turn);
        assert!(two.1.try_recv().is_ok());
    }

    #[test]
    fn when_too_many_wait_whoever_has_most_waiting_gives_way() {
        let turns = Turns::new(1, 3);
        let first = turns.take(who("a", "greedy")).now_or_never().unwrap().unwrap();
        let mut greedy: Vec<_> = (0..3).map(|_| turns.queue(who("a", "greedy")).unwrap()).collect();
        assert!(turns.queue(who("a", "greedy")).is_err());
        let modest = turns.queue(who("a", "modest")).unwrap();
        assert!(greedy.pop().unwrap().try_recv().is_err(), "its newest gave way");
        let other = turns.queue(who("b", "other")).unwrap();
        assert!(greedy.pop().unwrap().try_recv().is_err());
        let waiting = vec![("greedy", greedy.pop().unwrap()), ("modest", modest), ("other", other)];
        assert_eq!(play(first, waiting).len(), 3);
    }

    #[test]
    fn one_who_stops_waiting_is_passed_over() {
        let turns = Turns::new(1, 2);
        let first = turns.take(who("a", "x")).now_or_never().unwrap().unwrap();
        drop(turns.queue(who("a", "y")).unwrap());
        let last = turns.queue(who("a", "z")).unwrap();
        assert_eq!(play(first, vec![("z", last)]), ["z"]);
    }
}

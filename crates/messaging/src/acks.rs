//! Batches the acknowledgements of a subscription, because the broker writes each acknowledgement to disk. One
//! acknowledgement can cover all messages up to a delivery tag. If the connection is lost first, handled messages are
//! delivered again, which consumers must expect anyway.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lapin::Channel;
use lapin::options::BasicAckOptions;
use tokio::sync::Notify;
use tokio::time::timeout;

/// How long a handled message waits for others. Nobody waits for its acknowledgement.
const GATHER: Duration = Duration::from_millis(100);

/// Clones share the subscription.
#[derive(Clone)]
pub(crate) struct Acks {
    channel: Channel,
    /// The number of messages that are acknowledged at once.
    enough: usize,
    messages: Arc<Mutex<Messages>>,
    first: Arc<Notify>,
    full: Arc<Notify>,
}

/// By delivery tags, which increase.
#[derive(Default)]
struct Messages {
    /// Neither handled nor returned to the broker.
    open: BTreeSet<u64>,
    handled: BTreeSet<u64>,
}

/// The acknowledgements to send.
#[derive(Debug, Default, PartialEq, Eq)]
struct Due {
    /// All messages up to this one.
    up_to: Option<u64>,
    /// Single messages after one that is still open.
    singly: Vec<u64>,
}

impl Messages {
    fn take_due(&mut self) -> Due {
        let mut handled = std::mem::take(&mut self.handled);
        let after_open = match self.open.first() {
            Some(open) => handled.split_off(open),
            None => BTreeSet::new(),
        };
        Due { up_to: handled.last().copied(), singly: after_open.into_iter().collect() }
    }
}

impl Acks {
    /// For a subscription with this prefetch count.
    pub(crate) fn new(channel: Channel, prefetch: u16) -> Self {
        Self {
            channel,
            enough: (usize::from(prefetch) / 8).max(1),
            messages: Arc::default(),
            first: Arc::default(),
            full: Arc::default(),
        }
    }

    /// Call this for each message in order, before it is handled.
    pub(crate) fn begin(&self, tag: u64) {
        self.lock().open.insert(tag);
    }

    pub(crate) fn handled(&self, tag: u64) {
        let mut messages = self.lock();
        messages.open.remove(&tag);
        messages.handled.insert(tag);
        match messages.handled.len() {
            count if count >= self.enough => self.full.notify_one(),
            1 => self.first.notify_one(),
            _ => {}
        }
    }

    /// The message was returned to the broker.
    pub(crate) fn rejected(&self, tag: u64) {
        self.lock().open.remove(&tag);
    }

    /// Acknowledges periodically, forever.
    pub(crate) async fn run(self) {
        loop {
            tokio::select! {
                () = self.full.notified() => {}
                () = self.first.notified() => drop(timeout(GATHER, self.full.notified()).await),
            }
            self.flush().await;
        }
    }

    /// Acknowledges all handled messages now.
    pub(crate) async fn flush(&self) {
        let Due { up_to, singly } = self.lock().take_due();
        let all = up_to.map(|tag| (tag, true)).into_iter();
        for (tag, multiple) in all.chain(singly.into_iter().map(|tag| (tag, false))) {
            if let Err(error) = self.channel.basic_ack(tag, BasicAckOptions { multiple }).await {
                tracing::debug!(%error, "acknowledgement failed; messages will be redelivered");
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Messages> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_handled_messages_are_acknowledged() {
        let take = |open: &[u64], handled: &[u64]| {
            let mut messages =
                Messages { open: open.iter().copied().collect(), handled: handled.iter().copied().collect() };
            let due = messages.take_due();
            assert!(messages.handled.is_empty(), "each once");
            (due.up_to, due.singly)
        };
        assert_eq!(take(&[], &[]), (None, vec![]));
        assert_eq!(take(&[], &[1, 2, 3]), (Some(3), vec![]));
        assert_eq!(take(&[4], &[1, 2, 3]), (Some(3), vec![]));
        assert_eq!(take(&[3, 6], &[1, 2, 4, 5, 7]), (Some(2), vec![4, 5, 7]));
        assert_eq!(take(&[1], &[2, 3]), (None, vec![2, 3]));
    }
}

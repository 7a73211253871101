//! The number of streams of open pages on this instance: without any, nobody needs the events of the broker.

use std::time::Duration;

use tokio::sync::watch;

/// Clones share the count.
#[derive(Clone, Default)]
pub(crate) struct OpenPages(watch::Sender<isize>);

impl OpenPages {
    pub(super) fn add(&self, count: isize) {
        self.0.send_modify(|open| *open += count);
    }

    /// Waits until a page is open.
    pub(crate) async fn some(&self) {
        self.wait_for(|open| open > 0).await;
    }

    /// Waits until no page has been open for this long.
    pub(crate) async fn none_for(&self, time: Duration) {
        loop {
            self.wait_for(|open| open == 0).await;
            if tokio::time::timeout(time, self.some()).await.is_err() {
                return;
            }
        }
    }

    async fn wait_for(&self, is_reached: impl Fn(isize) -> bool) {
        // The sender is `self`, so the channel is open.
        let _open = self.0.subscribe().wait_for(|open| is_reached(*open)).await.is_ok();
    }
}

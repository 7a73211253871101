//! Consumes the events for open pages, while a page is open. The broker would otherwise send each event to each instance
//! for nobody.

use std::sync::Arc;
use std::time::Duration;

use messaging::Broker;
use tokio_util::sync::CancellationToken;

use crate::consumers::LiveUpdatesConsumer;
use crate::state::State;

const PARALLEL: u16 = 256;
/// The queue stays this long after the last page was closed: another page often follows.
const LINGER: Duration = Duration::from_secs(60);

/// Runs until `stop` is cancelled. A page that opens the first stream may miss events until the queue exists; the
/// consumer makes it reload then.
pub(crate) async fn consume_live_updates(state: Arc<State>, broker: Broker, stop: CancellationToken) {
    while !stop.is_cancelled() {
        tokio::select! {
            () = state.open_pages.some() => {}
            () = stop.cancelled() => return,
        }
        let unused = stop.child_token();
        let consumer = LiveUpdatesConsumer(state.clone());
        let consuming = messaging::consume(
            broker.clone(),
            LiveUpdatesConsumer::queue(),
            PARALLEL,
            consumer,
            unused.clone(),
        );
        let closing = async {
            state.open_pages.none_for(LINGER).await;
            unused.cancel();
        };
        tokio::join!(consuming, async {
            tokio::select! {
                () = closing => {}
                () = stop.cancelled() => {}
            }
        });
    }
}

//! How much waits in a queue, for whoever watches: RabbitMQ may have eyes of its own, but need not.

use std::time::Duration;

use metrics::gauge;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::queue::Kind;
use crate::{Broker, Queue};

const LOOK: Duration = Duration::from_secs(10);
/// Until the queue is there.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Records the depth of a shared queue and of its dead letters until `stop` is cancelled. Each instance that consumes the
/// queue shows the same. A queue of this process alone has none: what is missed there is missed.
pub async fn watch_depth(broker: &Broker, queue: &Queue, stop: &CancellationToken) {
    if queue.kind == Kind::PerInstance {
        return;
    }
    let watching = async {
        loop {
            match broker.backlog(queue).await {
                Ok(backlog) => {
                    gauge!("queue_messages", "queue" => queue.name()).set(backlog.ready);
                    gauge!("queue_dead_letters", "queue" => queue.name()).set(backlog.dead_letters);
                    sleep(LOOK).await;
                }
                Err(error) => {
                    tracing::debug!(queue = queue.name(), %error, "the queue cannot be counted");
                    sleep(LOOK_AGAIN).await;
                }
            }
        }
    };
    stop.run_until_cancelled(watching).await;
}

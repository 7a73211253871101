//! Metrics of a queue's depth, for installations that do not scrape RabbitMQ itself.

use std::time::Duration;

use metrics::gauge;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::queue::Kind;
use crate::{Broker, Queue};

const INTERVAL: Duration = Duration::from_secs(10);
/// The interval until the queue exists.
const RETRY: Duration = Duration::from_secs(1);

/// Records the depth of a shared queue and of its dead letters until `stop` is cancelled. Every instance that consumes
/// the queue reports the same. A queue per instance has no depth metric.
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
                    sleep(INTERVAL).await;
                }
                Err(error) => {
                    tracing::debug!(queue = queue.name(), %error, "counting the queue's messages failed");
                    sleep(RETRY).await;
                }
            }
        }
    };
    stop.run_until_cancelled(watching).await;
}

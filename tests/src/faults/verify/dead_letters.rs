//! Verifies that the broker has no waiting events and no dead letters.

use anyhow::ensure;
use demo::eventually;
use events::queues;
use messaging::{Broker, Queue};

use super::PENDING_MAX;

/// # Errors
/// When an event waits for too long, or there is a dead letter.
pub async fn are_none(broker: &Broker) -> anyhow::Result<()> {
    for queue in [
        Queue::shared(queues::WEBHOOK_EVENTS),
        Queue::shared(queues::WEBHOOK_TEST_EVENTS),
        Queue::shared(queues::REFUNDS),
        Queue::shared(queues::CASH),
        Queue::shared(queues::ATTEMPT_FEES),
        Queue::shared(queues::REMITTANCES),
        Queue::shared(queues::FACTS),
    ] {
        let dead = eventually("a queue to be empty", PENDING_MAX, || async {
            // A connection that was lost with the broker reconnects automatically.
            let backlog = broker.backlog(&queue).await.ok();
            Ok(backlog.filter(|backlog| backlog.ready == 0).map(|backlog| backlog.dead_letters))
        })
        .await?;
        ensure!(dead == 0, "{dead} dead letters of {}", queue.name());
    }
    Ok(())
}

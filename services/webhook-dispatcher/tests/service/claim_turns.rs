//! Waiting deliveries take turns while new ones are sent.

use domain::{BusinessId, Mode};
use events::Envelope;
use serde_json::json;
use test_kit::until;

use crate::harness::{Harness, LIFE, TestOrder};
use crate::receiver::Receiver;

/// An endpoint of a new business that subscribes to new orders.
struct Destination {
    business: BusinessId,
    endpoint: String,
}

impl Destination {
    async fn create(harness: &Harness, receiver: &Receiver) -> Self {
        let business = harness.new_business();
        let created =
            harness.hooks.create(business, &json!({"url": receiver.url()})).await.expect("an endpoint");
        Self { business, endpoint: created.view.id.to_string() }
    }

    fn created_order(&self, harness: &Harness) -> Envelope {
        let order = TestOrder { business: self.business, ..harness.new_order(Mode::Live) };
        harness.envelope(&order, 1, LIFE[0])
    }

    async fn set_status(&self, harness: &Harness, status: &str) {
        harness
            .hooks
            .update(self.business, &self.endpoint, &json!({"status": status}))
            .await
            .expect("a change");
    }
}

/// Publishes these events to paused endpoints, and resumes the endpoints. New webhooks go to another one meanwhile, so that
/// each claim takes only a few. Waits for `arrived`, and returns what `backlog` had received more by then.
async fn resume_during_traffic(
    harness: &Harness,
    to: &[&Destination],
    events: &[Envelope],
    arrived: impl AsyncFn() -> bool,
    backlog: &Receiver,
) -> usize {
    let set_status = async |status| {
        for destination in to {
            destination.set_status(harness, status).await;
        }
    };
    set_status("paused").await;
    harness.publish(events).await;
    let all = i64::try_from(events.len()).unwrap();
    until("all wait", async || harness.count("deliveries WHERE state <> 'succeeded'").await == all).await;
    let new = Receiver::kind();
    let third = Destination::create(harness, &new).await;
    let traffic = async {
        for sent in 1.. {
            harness.publish(&[third.created_order(harness)]).await;
            until("it arrives", async || new.count() == sent).await;
        }
    };
    let arrival = async {
        until("new webhooks are sent", async || new.count() > 0).await;
        set_status("active").await;
        let before = backlog.count();
        until("the other arrives", arrived).await;
        backlog.count() - before
    };
    tokio::select! {
        received = arrival => received,
        () = traffic => unreachable!(),
    }
}

#[tokio::test]
async fn a_backlog_of_a_prompt_endpoint_does_not_keep_others_from_being_claimed() {
    const BACKLOG: usize = 600;
    let harness = Harness::start().await;
    let [prompt, unknown] = [(); 2].map(|()| Receiver::kind());
    let busy = Destination::create(&harness, &prompt).await;
    let other = Destination::create(&harness, &unknown).await;
    harness.publish(&[busy.created_order(&harness)]).await;
    until("its speed is known", async || prompt.count() == 1).await;
    let backlog = (0..BACKLOG).map(|_| busy.created_order(&harness));
    let events: Vec<_> = backlog.chain([other.created_order(&harness)]).collect();
    let all = [&busy, &other];
    let before = resume_during_traffic(&harness, &all, &events, async || unknown.count() == 1, &prompt).await;
    assert!(before < BACKLOG / 2, "it came after {before} of the backlog");
}

#[tokio::test]
async fn businesses_with_older_deliveries_take_turns_with_others() {
    // More than a claim takes at once.
    const BUSINESSES: usize = 16;
    const OF_EACH: usize = 30;
    let harness = Harness::start().await;
    let [older, newer] = [(); 2].map(|()| Receiver::kind());
    let mut busy = Vec::new();
    for _ in 0..BUSINESSES {
        busy.push(Destination::create(&harness, &older).await);
    }
    let other = Destination::create(&harness, &newer).await;
    let mut all: Vec<_> = busy.iter().collect();
    all.push(&other);
    harness.publish(&Vec::from_iter(all.iter().map(|one| one.created_order(&harness)))).await;
    until("their speed is known", async || (older.count(), newer.count()) == (BUSINESSES, 1)).await;
    let backlog = (0..OF_EACH).flat_map(|_| busy.iter().map(|one| one.created_order(&harness)));
    let events: Vec<_> = backlog.chain([other.created_order(&harness)]).collect();
    let before = resume_during_traffic(&harness, &all, &events, async || newer.count() == 2, &older).await;
    assert!(before < BUSINESSES * OF_EACH / 2, "it came after {before} of the backlog");
}

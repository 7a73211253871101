//! The broker is killed and restarts. `make test-long` runs this; the faults of `make test` kill a broker too.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use events::{binding, queues};
use messaging::Queue;
use test_kit::{OwnBroker, until};

use crate::brokers::{Events, broker, outgoing};
use crate::recorder::Recorder;

#[tokio::test(flavor = "multi_thread")]
async fn confirmed_messages_survive_a_kill_and_all_clients_reconnect() {
    let own = OwnBroker::start().await;
    let broker = broker(&own.url);
    let (recorder, news) = (Recorder::content(), Recorder::content());
    let consuming = recorder.consume(&broker, Queue::shared(queues::FACTS), 8);
    let listening = news.consume(&broker, Queue::per_instance("test.news", &[binding::WALLET_FUNDED]), 8);
    broker.publisher().connected().await.unwrap();
    broker.publisher().publish(&[outgoing(&Events::new().funded())]).await.unwrap();
    until("the first is received", async || recorder.received().len() == 1 && news.connections() == 1).await;
    own.queues_are_on_disk(&["webhook-dispatcher.events", "wallet.refunds", "portal-api.facts"]).await;

    let (enough, failures) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let publishing = {
        let (publisher, enough, failures) = (broker.publisher(), enough.clone(), failures.clone());
        tokio::spawn(async move {
            let (events, mut confirmed) = (Events::new(), Vec::new());
            while !enough.load(Ordering::Relaxed) {
                publisher.connected().await.unwrap();
                let batch: Vec<_> = (0..10).map(|_| events.funded()).collect();
                let messages: Vec<_> = batch.iter().map(outgoing).collect();
                match publisher.publish(&messages).await {
                    Ok(()) => confirmed.extend(batch.iter().map(|event| event.id)),
                    Err(_) => {
                        failures.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
            confirmed
        })
    };
    let mut round = 0;
    // A kill may fall between two publishes; at least one kill must hit a publish in progress.
    while round < 2 || failures.load(Ordering::Relaxed) == 0 {
        round += 1;
        assert!(round <= 10, "no kill hit a publish in progress");
        let received = recorder.received().len();
        until("messages flow", async || recorder.received().len() > received + 200).await;
        let before = (news.connections(), recorder.connections());
        own.server.kill().await.unwrap();
        own.server.ready().await.unwrap();
        until("the consumers are back", async || {
            news.connections() > before.0 && recorder.connections() > before.1
        })
        .await;
        let received = recorder.received().len();
        until("messages flow again", async || recorder.received().len() > received).await;
        until("it is ready", async || broker.check().await.is_ok()).await;
    }
    enough.store(true, Ordering::Relaxed);
    let confirmed = publishing.await.unwrap();
    until("every confirmed message is received", async || {
        let received: HashSet<_> = recorder.received().into_iter().collect();
        confirmed.iter().all(|id| received.contains(id))
    })
    .await;
    consuming.stop().await;
    listening.stop().await;
    broker.close().await;
}

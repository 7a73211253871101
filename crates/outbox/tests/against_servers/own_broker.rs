//! The broker is killed and restarts. `make test-long` runs this; the faults of `make test` kill a broker too.

use domain::Clock;
use outbox::Outbox;
use test_kit::{OwnBroker, until};

use crate::servers::{Events, Recorder, Running, broker, database, waiting};

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_when_the_broker_is_killed_in_the_middle() {
    let own = OwnBroker::start().await;
    let (database, url) = database().await;
    let (events, recorder) = (Events::new(), Recorder::default());
    let broker = broker(&own.url);
    let listening = recorder.listen(&broker);
    let relays: Vec<_> = [&events.outbox, &Outbox::default()]
        .map(|outbox| Running::relay(&database, &broker, outbox, Clock::system()))
        .into();
    let mut committed = events.commit(&database, 1).await.unwrap();
    until("the first has arrived", async || recorder.has_all(&committed)).await;
    own.queues_are_on_disk(&["portal-api.facts"]).await;

    for _ in 0..2 {
        let writing = {
            let (database, events) = (database.clone(), events.clone());
            tokio::spawn(async move {
                let mut written = Vec::new();
                for _ in 0..150 {
                    written.extend(events.commit(&database, 40).await.unwrap());
                }
                written
            })
        };
        let received = recorder.received().len();
        until("events flow", async || recorder.received().len() > received + 100).await;
        own.server.kill().await.unwrap();
        committed.extend(writing.await.unwrap());
        own.server.ready().await.unwrap();
        until("the outbox is empty again", async || waiting(&url).await == 0).await;
    }
    until("all have arrived", async || recorder.has_all(&committed)).await;
    assert_eq!(recorder.received().len(), committed.len());
    for relay in relays {
        relay.stop().await;
    }
    listening.stop().await;
    broker.close().await;
}

//! The services' permissions when the platform creates the exchange and the queues.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use events::{binding, queues};
use local_stack::Servers;
use messaging::{Broker, Queue, Rejection};
use settings::Secret;
use test_kit::{until, vhost};

use crate::brokers::{Events, broker, outgoing, ready_messages};
use crate::recorder::Recorder;

/// The permissions in `deploy/` of a service that publishes, consumes one shared queue, and has its own queue per
/// instance.
const CONFIGURE: &str = r"^amq\.gen-.*$";
const WRITE: &str = r"^(waybill\.events|amq\.gen-.*)$";
const READ: &str = r"^(portal-api\.(facts|warnings)|waybill\.events|amq\.gen-.*)$";

/// More than a queue's delivery limit.
const RENEWALS: usize = 30;

/// A broker client that declares no shared queue.
fn guest(url: &str) -> Broker {
    Broker::start(&settings::Broker { declare: false, ..settings::Broker::new(Secret::new(url)) }, "test")
}

#[tokio::test]
async fn a_service_with_permissions_for_its_own_queues_publishes_and_consumes() {
    let url = vhost().await;
    let (platform, events) = (broker(&url), Events::new());
    platform.publisher().connected().await.unwrap();
    // Declares them all, as the platform would.
    platform.publisher().publish(&[outgoing(&events.funded())]).await.unwrap();

    let servers = Servers::for_tests().await.unwrap();
    let narrow = servers.create_broker_user(&url, [CONFIGURE, WRITE, READ]).await.unwrap();
    let service = guest(&narrow);
    service.publisher().connected().await.unwrap();
    service.publisher().publish(&[outgoing(&events.funded())]).await.unwrap();
    let (shared, own, foreign) = (Recorder::content(), Recorder::content(), Recorder::content());
    let consuming = [
        shared.consume(&service, Queue::shared(queues::FACTS), 1),
        own.consume(&service, Queue::per_instance("news", &[binding::WALLET_FUNDED]), 1),
        foreign.consume(&service, Queue::shared(queues::REFUNDS), 1),
    ];
    until("the messages of the shared queue are received", async || shared.received().len() == 2).await;
    until("a message of the instance's own queue is received", async || {
        service.publisher().publish(&[outgoing(&events.funded())]).await.unwrap();
        !own.received().is_empty()
    })
    .await;
    assert!(foreign.received().is_empty());
    for consuming in consuming {
        consuming.stop().await;
    }
    service.close().await;
    platform.close().await;
}

#[tokio::test]
async fn a_long_held_message_is_renewed_with_those_permissions_and_not_dead_lettered() {
    let url = vhost().await;
    let (platform, events) = (broker(&url), Events::new());
    platform.publisher().connected().await.unwrap();
    platform.publisher().publish(&[outgoing(&events.funded())]).await.unwrap();

    let servers = Servers::for_tests().await.unwrap();
    let service = guest(&servers.create_broker_user(&url, [CONFIGURE, WRITE, READ]).await.unwrap());
    service.publisher().connected().await.unwrap();
    let tries = Arc::new(AtomicUsize::new(0));
    let recorder = {
        let tries = tries.clone();
        Recorder::new(move |_| match tries.fetch_add(1, Ordering::Relaxed) {
            0..RENEWALS => Err(Rejection::Later("the database is unreachable".into())),
            _ => Ok(()),
        })
    };
    let consuming = recorder.consume(&service, Queue::shared(queues::FACTS).held_at_most(Duration::ZERO), 1);
    until("it is handled", async || tries.load(Ordering::Relaxed) > RENEWALS).await;
    consuming.stop().await;
    assert_eq!(ready_messages(&url, Queue::shared(queues::FACTS).name()).await, 0);
    assert_eq!(ready_messages(&url, &Queue::shared(queues::FACTS).dead_letters()).await, 0);
    service.close().await;
    platform.close().await;
}

#[tokio::test]
async fn nothing_is_published_before_the_platform_has_created_the_queues() {
    let url = vhost().await;
    let (service, events) = (guest(&url), Events::new());
    service.publisher().connected().await.unwrap();
    assert!(service.publisher().publish(&[outgoing(&events.funded())]).await.is_err());

    let platform = broker(&url);
    platform.publisher().connected().await.unwrap();
    // A queue that was just created may confirm late.
    until("the platform publishes", async || {
        platform.publisher().publish(&[outgoing(&events.funded())]).await.is_ok()
    })
    .await;
    until("the service publishes", async || {
        service.publisher().publish(&[outgoing(&events.funded())]).await.is_ok()
    })
    .await;
    until("both messages are in the queue", async || {
        ready_messages(&url, Queue::shared(queues::FACTS).name()).await >= 2
    })
    .await;
    service.close().await;
    platform.close().await;
}

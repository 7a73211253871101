//! The guarantees of the publisher.

use std::time::Duration;

use events::{Body, binding, queues};
use messaging::{BrokerError, Queue};
use test_kit::{until, vhost};

use crate::brokers::{Events, broker, outgoing, ready_messages, unbind};
use crate::recorder::Recorder;

#[tokio::test]
async fn an_event_waits_for_a_consumer_that_has_never_run() {
    let url = vhost().await;
    let (broker, events) = (broker(&url), Events::new());
    let sent: Vec<_> = (0..300).map(|_| events.funded()).collect();
    let publisher = broker.publisher();
    publisher.connected().await.unwrap();
    let messages: Vec<_> = sent.iter().map(outgoing).collect();
    publisher.publish(&messages).await.unwrap();
    publisher.publish(&[]).await.unwrap();

    let recorder = Recorder::content();
    let consuming = recorder.consume(&broker, Queue::shared(queues::FACTS), 1);
    until("all are received", async || recorder.received().len() == 300).await;
    // Handled one at a time, they arrive in the order in which they were published.
    assert_eq!(recorder.received(), sent.iter().map(|event| event.id).collect::<Vec<_>>());
    consuming.stop().await;
    broker.check().await.unwrap();
    broker.close().await;
    assert!(broker.check().await.is_err());
    assert_eq!(ready_messages(&url, Queue::shared(queues::FACTS).name()).await, 0);
}

#[tokio::test]
async fn concurrent_publishers_share_a_channel() {
    let url = vhost().await;
    let (broker, events) = (broker(&url), Events::new());
    broker.publisher().connected().await.unwrap();
    let publishes = (0..50).map(async |_| {
        let messages: Vec<_> = (0..20).map(|_| outgoing(&events.funded())).collect();
        broker.publisher().publish(&messages).await
    });
    futures_util::future::try_join_all(publishes).await.unwrap();
    assert_eq!(ready_messages(&url, Queue::shared(queues::FACTS).name()).await, 1_000);
    broker.close().await;
}

#[tokio::test]
async fn unroutable_messages_are_returned_and_the_others_are_kept() {
    let url = vhost().await;
    let (broker, events, facts) = (broker(&url), Events::new(), Queue::shared(queues::FACTS));
    let publisher = broker.publisher();
    publisher.connected().await.unwrap();
    publisher.publish(&[outgoing(&events.funded())]).await.unwrap();
    unbind(&url, facts.name(), binding::WALLET_FUNDED).await;

    // One is only for instances, of which there are none. Its confirm comes before that of the funded one.
    let batch =
        [Body::BusinessChanged {}, Body::FirstTestOrder {}, Body::WalletFunded {}, Body::BusinessChanged {}]
            .map(|body| outgoing(&events.event(body)));
    let error = publisher.publish(&batch).await.unwrap_err();
    assert!(matches!(&error, BrokerError::NotTaken(returned) if *returned == [2]), "{error}");
    assert_eq!(ready_messages(&url, facts.name()).await, 2);
    // The service that declares the queues restores the binding.
    publisher.publish(&batch[2..]).await.unwrap();
    assert_eq!(ready_messages(&url, facts.name()).await, 3);

    // Not for each returned batch, but the other messages are published.
    unbind(&url, facts.name(), binding::WALLET_FUNDED).await;
    for _ in 0..2 {
        let error = publisher.publish(&batch).await.unwrap_err();
        assert!(matches!(&error, BrokerError::NotTaken(returned) if *returned == [2]), "{error}");
    }
    assert_eq!(ready_messages(&url, facts.name()).await, 5);
    broker.close().await;
}

/// A concurrent batch neither gets the error nor loses its own messages.
#[tokio::test]
async fn concurrent_publishers_each_get_their_own_errors() {
    let url = vhost().await;
    let (broker, events, facts) = (broker(&url), Events::new(), Queue::shared(queues::FACTS));
    let publisher = broker.publisher();
    publisher.connected().await.unwrap();
    publisher.publish(&[outgoing(&events.event(Body::FirstTestOrder {}))]).await.unwrap();
    unbind(&url, facts.name(), binding::WALLET_FUNDED).await;
    // The queues are redeclared after the first returned message.
    publisher.publish(&[outgoing(&events.funded())]).await.unwrap_err();
    publisher.publish(&[outgoing(&events.event(Body::FirstTestOrder {}))]).await.unwrap();
    unbind(&url, facts.name(), binding::WALLET_FUNDED).await;
    let publishes = (0..40).map(async |index| {
        let bodies = [Body::FirstTestOrder {}, Body::BusinessChanged {}, Body::WalletFunded {}];
        let batch = bodies.map(|body| outgoing(&events.event(body)));
        if index % 2 == 0 {
            broker.publisher().publish(&batch[..2]).await.unwrap();
        } else {
            let error = broker.publisher().publish(&batch).await.unwrap_err();
            assert!(matches!(&error, BrokerError::NotTaken(returned) if *returned == [2]), "{error}");
        }
    });
    futures_util::future::join_all(publishes).await;
    assert_eq!(ready_messages(&url, facts.name()).await, 42);
    broker.close().await;
}

#[tokio::test]
async fn a_refused_user_or_virtual_host_is_no_outage() {
    let url = vhost().await;
    let (user, rest) = url.rsplit_once('@').unwrap();
    let wrong_password = format!("{user}x@{rest}");
    let (_, wrong_user) = url.split_once("://").unwrap();
    for refused in [wrong_password, format!("amqp://x{wrong_user}"), format!("{url}x")] {
        let broker = broker(&refused);
        assert!(matches!(broker.check().await, Err(BrokerError::Connecting)), "not known yet");
        until("the attempt ends", async || !matches!(broker.check().await, Err(BrokerError::Connecting)))
            .await;
        let error = broker.check().await.unwrap_err();
        assert!(matches!(error, BrokerError::Refused(_)), "{refused}: {error}");
        assert!(!error.is_outage());
        broker.close().await;
    }
}

#[tokio::test]
async fn an_unreachable_broker_is_an_error() {
    let port = local_stack::free_port().unwrap();
    let broker = broker(&format!("amqp://u:p@127.0.0.1:{port}/v"));
    assert!(broker.check().await.is_err());
    until("it is known to be an outage", async || broker.check().await.is_err_and(|error| error.is_outage()))
        .await;
    assert!(broker.publisher().publish(&[outgoing(&Events::new().funded())]).await.is_err());
    broker.close().await;
    assert!(broker.publisher().connected().await.is_err());
}

#[tokio::test]
async fn connections_to_a_silent_broker_do_not_accumulate() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let broker = broker(&format!("amqp://u:p@{}/v", listener.local_addr().unwrap()));
    let (mut first, _) = listener.accept().await.unwrap();
    // Our side gives up and closes the socket: the protocol header is all that arrives before the end.
    let mut said = Vec::new();
    let read = tokio::io::AsyncReadExt::read_to_end(&mut first, &mut said);
    tokio::time::timeout(Duration::from_secs(10), read).await.unwrap().unwrap();
    assert_eq!(said, b"AMQP\0\0\x09\x01");
    broker.close().await;
}

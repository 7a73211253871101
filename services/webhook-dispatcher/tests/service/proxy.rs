//! Webhooks through the operator's proxy.

use domain::Clock;
use settings::Secret;
use test_kit::ConnectProxy;

use crate::harness::Harness;
use crate::receiver::Receiver;

/// The error of a test event through this proxy, and how many requests the receiver got.
async fn tested_through(proxy: String) -> (Option<String>, usize) {
    let adjust =
        |settings: &mut webhook_dispatcher::Settings| settings.webhooks.proxy = Some(Secret::new(proxy));
    let harness = Harness::unconnected_with(adjust, Clock::system()).await;
    let receiver = Receiver::kind();
    let endpoint = harness.endpoint(&receiver).await;
    let result = harness.hooks.test(harness.business, &endpoint.view.id.to_string()).await.unwrap();
    (result.error, receiver.count())
}

#[tokio::test]
async fn webhooks_go_through_the_proxy() {
    let proxy = ConnectProxy::start().await;
    let (error, received) = tested_through(format!("http://user:password@{}", proxy.address)).await;
    assert_eq!(error, None);
    assert!(received > 0 && !proxy.heads().is_empty());
}

#[tokio::test]
async fn a_fault_of_the_proxy_names_neither_its_address_nor_its_credentials() {
    let (error, received) = tested_through("http://user:password@127.0.0.1:1".to_owned()).await;
    assert_eq!(error.unwrap(), "not sent: our proxy failed; nothing is wrong with your server");
    assert_eq!(received, 0);
}

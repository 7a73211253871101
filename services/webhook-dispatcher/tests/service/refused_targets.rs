//! No webhook is sent to a private address, including one that a name gets later.

use diesel_async::RunQueryDsl;
use domain::{Clock, Mode};
use internal_api::webhooks::DeliveryState;
use serde_json::json;
use test_kit::{invalid_fields, refusal, until};

use crate::harness::Harness;
use crate::receiver::Receiver;

#[tokio::test]
async fn plain_http_is_refused_unless_the_operator_allows_it() {
    let adjust = |settings: &mut webhook_dispatcher::Settings| settings.webhooks.allow_http = false;
    let harness = Harness::unconnected_with(adjust, Clock::system()).await;
    let refused = refusal(harness.hooks.create(harness.business, &json!({"url": "http://127.0.0.1/"})).await);
    assert_eq!((refused.status, invalid_fields(&refused)), (400, vec!["url"]));
    assert!(refused.message.contains("https"));
    harness.create(json!({"url": "https://127.0.0.1/"})).await;
}

/// Every attempt is vetted again.
#[tokio::test]
async fn a_target_that_became_private_is_not_called() {
    let adjust = |settings: &mut webhook_dispatcher::Settings| {
        settings.webhooks.allowed_ranges = "127.9.9.9/32".parse().unwrap()
    };
    let harness = Harness::start_with(adjust, Clock::system()).await;
    let receiver = Receiver::kind();
    for host in ["127.0.0.1", "localhost", "2130706433"] {
        let endpoint = harness.create(json!({"url": "http://127.9.9.9/"})).await;
        let mut conn = harness.connection().await;
        diesel::sql_query(format!("UPDATE endpoints SET url = 'http://{host}:{}/hook'", receiver.port))
            .execute(&mut conn)
            .await
            .unwrap();
        let result = harness.hooks.test(harness.business, &endpoint.view.id.to_string()).await.unwrap();
        assert!(result.error.unwrap().contains("not public"));
        harness.publish_created(&harness.new_order(Mode::Live)).await;
        until("it is given up", async || {
            let log = harness.deliveries(&endpoint).await;
            log.len() == 2 && log.iter().all(|one| one.status == DeliveryState::Failed)
        })
        .await;
        harness.hooks.delete(harness.business, &endpoint.view.id.to_string()).await.unwrap();
    }
    assert_eq!(receiver.count(), 0);
}

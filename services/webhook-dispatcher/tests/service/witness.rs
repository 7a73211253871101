//! Shows that the sender has claimed due deliveries. Tests that expect no delivery wait for this instead of for time.

use domain::{BusinessId, Mode};
use internal_api::webhooks::DeliveryState;
use serde_json::json;

use test_kit::until;

use crate::harness::{Harness, TestOrder};
use crate::receiver::Receiver;

/// An endpoint of another business, and a delivery that can be sent to it again and again.
pub(crate) struct Witness {
    business: BusinessId,
    delivery: String,
    receiver: Receiver,
}

impl Witness {
    pub(crate) async fn start(harness: &Harness) -> Self {
        let (business, receiver) = (harness.new_business(), Receiver::kind());
        let endpoint =
            harness.hooks.create(business, &json!({ "url": receiver.url() })).await.expect("an endpoint");
        harness.publish_created(&TestOrder { business, ..harness.new_order(Mode::Live) }).await;
        let id = endpoint.view.id.to_string();
        let log = async || harness.hooks.deliveries(business, &id, "").await.expect("a log");
        until("the witness is served", async || !log().await.data.is_empty()).await;
        let log = log().await;
        let witness = Self { business, delivery: log.data[0].id.to_string(), receiver };
        witness.is_idle(harness).await;
        witness
    }

    /// Returns after a claim that began after the call. A claim takes all due deliveries for which there is room, so a
    /// delivery without a lease afterwards was not due.
    pub(crate) async fn sees_a_look(&self, harness: &Harness) {
        let before = self.receiver.count();
        harness.hooks.redeliver(self.business, &self.delivery).await.expect("it is sent again");
        until("the sender looks", async || self.receiver.count() > before).await;
        self.is_idle(harness).await;
    }

    /// So that it can be sent again.
    async fn is_idle(&self, harness: &Harness) {
        until("the witness is idle", async || {
            let delivery = harness.hooks.delivery(self.business, &self.delivery).await.expect("a delivery");
            delivery.view.status == DeliveryState::Succeeded
        })
        .await;
    }
}

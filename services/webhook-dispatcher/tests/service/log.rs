//! The delivery log, and redelivery.

use domain::{Clock, EventKind, Mode};
use internal_api::webhooks::{DeliveryState, OrderDeliveriesQuery, Redelivery};
use test_kit::{refusal, until};

use crate::harness::{DeliveriesQuery, Harness, LIFE, retries};
use crate::receiver::{Receiver, reply};

#[tokio::test]
async fn the_log_is_newest_first_in_pages() {
    let harness = Harness::start().await;
    let receiver = Receiver::start(|received, _| reply(if received.sequence() == 3 { 400 } else { 200 }));
    let endpoint = harness.endpoint(&receiver).await;
    let order = harness.new_order(Mode::Live);
    for (sequence, kind) in (1..=5).zip(LIFE) {
        harness.publish(&[harness.envelope(&order, sequence, kind)]).await;
    }
    until("all are over", async || {
        let log = harness.deliveries(&endpoint).await;
        log.len() == 5 && log.iter().all(|one| one.status != DeliveryState::Pending)
    })
    .await;
    let all = harness.deliveries(&endpoint).await;
    assert!(all.is_sorted_by(|a, b| a.id.to_string() > b.id.to_string()));
    assert!(all.iter().all(|one| one.order_reference.as_deref() == Some(order.reference.as_str())));

    let id = endpoint.view.id.to_string();
    let page =
        async |query: DeliveriesQuery| harness.hooks.deliveries(harness.business, &id, &query.text()).await;
    let first = page(DeliveriesQuery { limit: Some(2), ..Default::default() }).await.unwrap();
    assert_eq!((first.data.as_slice(), first.has_more), (&all[..2], true));
    let after = Some(all[1].id.to_string());
    let rest =
        page(DeliveriesQuery { limit: Some(3), starting_after: after, ..Default::default() }).await.unwrap();
    assert_eq!((rest.data.as_slice(), rest.has_more), (&all[2..], false));
}

#[tokio::test]
async fn a_delivery_is_sent_again_as_often_as_its_owner_wants() {
    let harness = Harness::start().await;
    let receiver = Receiver::start(|_, before| reply(if before == 2 { 500 } else { 200 }));
    let endpoint = harness.endpoint(&receiver).await;
    let order = harness.new_order(Mode::Live);
    harness.publish_created(&order).await;
    let settled = async |attempts| {
        until("it is over", async || {
            harness
                .deliveries(&endpoint)
                .await
                .first()
                .is_some_and(|one| one.status == DeliveryState::Succeeded && one.attempts == attempts)
        })
        .await;
    };
    settled(1).await;
    let delivery = harness.deliveries(&endpoint).await.remove(0);
    // The second time it fails at first, and is retried like any other; later events do not wait for it.
    for attempts in [2, 4, 5] {
        let again = harness.hooks.redeliver(harness.business, &delivery.id.to_string()).await.unwrap();
        assert_eq!((again.view.id, again.view.status), (delivery.id, DeliveryState::Pending));
        assert_eq!(again.redelivery, Redelivery::Queued);
        settled(attempts).await;
    }
    assert_eq!(receiver.sequences(&order.reference), [1, 1, 1, 1, 1]);
    let bodies: Vec<_> = receiver.received().into_iter().map(|one| one.body).collect();
    assert!(bodies.iter().all(|body| *body == bodies[0]));
    assert_eq!(harness.details(&delivery).await.attempt_log.len(), 5);
    assert_eq!(harness.deliveries(&endpoint).await.len(), 1);
}

#[tokio::test]
async fn a_failed_delivery_can_be_sent_again_and_one_that_waits_is_brought_forward() {
    let adjust = |settings: &mut webhook_dispatcher::Settings| {
        settings.webhooks.retry_seconds = crate::harness::retries("3600");
    };
    let harness = Harness::start_with(adjust, domain::Clock::system()).await;
    let receiver = Receiver::start(|_, before| reply(if before < 2 { 500 } else { 200 }));
    let endpoint = harness.endpoint(&receiver).await;
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    until("the first attempt failed", async || {
        harness
            .deliveries(&endpoint)
            .await
            .first()
            .is_some_and(|one| one.next_attempt_at.is_some() && one.attempts == 1)
    })
    .await;
    let delivery = harness.deliveries(&endpoint).await.remove(0);
    let id = delivery.id.to_string();
    let hurried = harness.hooks.redeliver(harness.business, &id).await.unwrap();
    assert!(hurried.view.next_attempt_at < delivery.next_attempt_at);
    assert_eq!(hurried.redelivery, Redelivery::BroughtForward);
    until("it failed for good", async || {
        harness.deliveries(&endpoint).await[0].status == DeliveryState::Failed
    })
    .await;
    harness.hooks.redeliver(harness.business, &id).await.unwrap();
    until("it succeeds at last", async || {
        harness.deliveries(&endpoint).await[0].status == DeliveryState::Succeeded
    })
    .await;
    assert_eq!(receiver.count(), 3);

    for unknown in ["whd_01ARZ3NDEKTSV4RRFFQ69G5FAV", "nonsense"] {
        let refused = refusal(harness.hooks.redeliver(harness.business, unknown).await);
        assert_eq!((refused.status, refused.code.as_str()), (404, "webhook_delivery_not_found"));
        assert_eq!(refusal(harness.hooks.delivery(harness.business, unknown).await).status, 404);
    }
}

#[tokio::test]
async fn an_orders_deliveries_are_listed_by_time_for_its_business() {
    // No retry changes them meanwhile.
    let harness =
        Harness::start_with(|settings| settings.webhooks.retry_seconds = retries("3600"), Clock::system())
            .await;
    let (kind, sullen) = (Receiver::kind(), Receiver::start(|_, _| reply(500)));
    let (first, second) = (harness.endpoint(&kind).await, harness.endpoint(&sullen).await);
    let order = harness.new_order(Mode::Live);
    harness.publish_created(&harness.new_order(Mode::Live)).await;
    let created = harness.publish_created(&order).await;
    let assigned = harness.envelope(&order, 2, EventKind::DriverAssigned);
    harness.publish(std::slice::from_ref(&assigned)).await;

    let everything = OrderDeliveriesQuery { limit: 100, after: None, after_id: None };
    let list = async |query: &OrderDeliveriesQuery| {
        harness.hooks.of_order(harness.business, order.id, query).await.expect("the order's deliveries")
    };
    until("both events are delivered once and refused once", async || {
        let all = list(&everything).await.data;
        all.iter().filter(|one| one.state == DeliveryState::Succeeded).count() == 2
            && all.iter().any(|one| one.endpoint_id == second.view.id && one.attempts > 0)
    })
    .await;
    let all = list(&everything).await.data;
    assert_eq!(all.len(), 4, "{all:?}");
    assert!(all.is_sorted_by_key(|one| (one.created_at, one.id.to_string())));
    let told = all.iter().find(|one| one.endpoint_id == first.view.id && one.event_id == created.id).unwrap();
    assert_eq!((told.event, told.attempts), (EventKind::OrderCreated, 1));
    assert_eq!((told.last_response_status, &told.last_error), (Some(200), &None));
    assert!(told.last_attempt_at >= Some(told.created_at) && told.completed_at.is_some());
    let refused = all.iter().find(|one| one.endpoint_id == second.view.id && one.attempts > 0).unwrap();
    assert_eq!(refused.last_response_status, Some(500));
    assert!(refused.last_error.is_some());

    // Page by page it is the same list.
    let mut query = OrderDeliveriesQuery { limit: 1, ..everything.clone() };
    let mut seen = Vec::new();
    loop {
        let page = list(&query).await;
        let last = page.data.last().expect("no page is empty");
        (query.after, query.after_id) = (Some(last.created_at), Some(last.id.to_string()));
        seen.extend(page.data.into_iter().map(|one| one.id));
        if !page.has_more {
            break;
        }
    }
    assert_eq!(seen, all.iter().map(|one| one.id).collect::<Vec<_>>());

    let of_created = harness.hooks.of_events(harness.business, &[created.id]).await.expect("its deliveries");
    assert_eq!(of_created, all.iter().filter(|one| one.event_id == created.id).cloned().collect::<Vec<_>>());
    assert_eq!(harness.hooks.of_events(harness.new_business(), &[created.id]).await.unwrap(), []);

    let one = harness.hooks.one_of_order(harness.business, order.id, told.id).await.expect("one of them");
    assert_eq!(one.id, told.id);
    let other = harness.new_business();
    assert_eq!(harness.hooks.of_order(other, order.id, &everything).await.unwrap().data, []);
    assert_eq!(refusal(harness.hooks.one_of_order(other, order.id, told.id).await).status, 404);
    let another_order = harness.new_order(Mode::Live).id;
    assert_eq!(harness.hooks.of_order(harness.business, another_order, &everything).await.unwrap().data, []);
    assert_eq!(
        refusal(harness.hooks.one_of_order(harness.business, another_order, told.id).await).status,
        404
    );
}

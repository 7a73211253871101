//! Each event is applied once and in order, whatever arrives, as a webhook or from the feed.

use std::sync::{Arc, Mutex, PoisonError};

use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse, web};
use anyhow::{Context, bail};
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use test_kit::eventually;
use tokio::sync::Notify;
use waybill_client::webhooks::{Secrets, VerifyOptions, sign_test_event};
use waybill_client::{
    Apply, ClientOptions, CursorStore, Environment, Error, EventFilters, FollowOptions, Mode, NoAnswer,
    Receipt, Receiver, SystemEnvironment, Waybill, WebhookEvent,
};

use crate::proxy::{Fault, FaultyProxy};
use crate::readme::Postgres;
use crate::shop::{NoPauses, TestShop, new_order};
use crate::sync::database_with_tables;

const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const NEXT_SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const MOVES: [&str; 4] = ["driver.assigned", "order.picked_up", "order.out_for_delivery", "order.delivered"];

/// Stores the ids of events in a table of the shop, and fails on request.
#[derive(Clone, Default)]
struct Work {
    refused: Arc<Mutex<Vec<&'static str>>>,
}

impl Work {
    async fn store(
        &self,
        event: &WebhookEvent,
        transaction: &tokio_postgres::Client,
        kind: &str,
    ) -> anyhow::Result<()> {
        transaction.execute("INSERT INTO work VALUES ($1, $2)", &[&event.id, &kind]).await?;
        if event.data["reason"] == "explode" {
            bail!("the work failed");
        }
        Ok(())
    }
}

impl Apply<Postgres> for Work {
    async fn apply(
        &self,
        event: &WebhookEvent,
        transaction: &mut tokio_postgres::Client,
    ) -> anyhow::Result<()> {
        self.store(event, transaction, "applied").await
    }

    async fn on_stale(
        &self,
        event: &WebhookEvent,
        transaction: &mut tokio_postgres::Client,
    ) -> anyhow::Result<()> {
        self.store(event, transaction, "stale").await
    }

    fn on_refused(&self, reason: &'static str) {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).push(reason);
    }
}

/// A receiver with its database, whose table `work` shows what was done.
async fn receiver(mode: Mode) -> anyhow::Result<(Receiver<Postgres>, String)> {
    let database = database_with_tables().await?;
    let url = database.0.clone();
    local_stack::query(&url, "CREATE TABLE work (event_id TEXT NOT NULL, kind TEXT NOT NULL)").await?;
    let secrets = Secrets::new([SECRET, NEXT_SECRET])?;
    Ok((Receiver::new(database, secrets, mode, VerifyOptions::default()), url))
}

async fn work_of(url: &str, order: &str) -> anyhow::Result<String> {
    let query = format!(
        "SELECT coalesce(string_agg(event_id || ' ' || kind, ',' ORDER BY event_id), '') FROM work
         WHERE event_id LIKE 'evt_{order}_%'"
    );
    Ok(local_stack::query(url, &query).await?.trim().to_owned())
}

fn event(order: &str, sequence: i64) -> Value {
    json!({
        "id": format!("evt_{order}_{sequence}"),
        "event": "order.picked_up",
        "sequence": sequence,
        "mode": "live",
        "order": { "id": order, "orderReference": order, "status": "picked_up" },
        "data": {},
    })
}

/// The event with other fields.
fn with(mut event: Value, changes: Value) -> Value {
    if let (Value::Object(event), Value::Object(changes)) = (&mut event, changes) {
        event.extend(changes);
    }
    event
}

async fn receive(receiver: &Receiver<Postgres>, event: &Value, secret: &str) -> anyhow::Result<Receipt> {
    let body = event.to_string();
    let headers = sign_test_event(body.as_bytes(), &Secrets::new([secret])?, &VerifyOptions::default())?;
    Ok(receiver.receive(body.as_bytes(), headers.as_slice(), &Work::default()).await?)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_event_is_applied_once_and_in_order() -> anyhow::Result<()> {
    let (receiver, url) = receiver(Mode::Live).await?;
    for (sequence, secret, receipt) in [
        (1, SECRET, Receipt::Applied),
        (1, SECRET, Receipt::Duplicate),
        (4, NEXT_SECRET, Receipt::Applied),
        (3, SECRET, Receipt::Stale),
        (5, SECRET, Receipt::Applied),
        (3, SECRET, Receipt::Duplicate),
    ] {
        assert_eq!(receive(&receiver, &event("a", sequence), secret).await?, receipt, "{sequence}");
    }
    let work = "evt_a_1 applied,evt_a_3 stale,evt_a_4 applied,evt_a_5 applied";
    assert_eq!(work_of(&url, "a").await?, work);

    let same = event("c", 1);
    let receipts = try_join_all((0..8).map(|_| receive(&receiver, &same, SECRET))).await?;
    assert_eq!(receipts.iter().filter(|receipt| **receipt == Receipt::Applied).count(), 1);
    assert_eq!(work_of(&url, "c").await?, "evt_c_1 applied");

    let exploding = with(event("d", 1), json!({"data": {"reason": "explode"}}));
    assert!(receive(&receiver, &exploding, SECRET).await.is_err());
    assert_eq!(work_of(&url, "d").await?, "", "failed work leaves nothing");
    assert_eq!(receive(&receiver, &event("d", 1), SECRET).await?, Receipt::Applied);

    let other_mode = with(event("e", 1), json!({"mode": "test"}));
    assert_eq!(receive(&receiver, &other_mode, SECRET).await?, Receipt::OtherMode);
    let no_order = json!({"id": "evt_low_1", "event": "wallet.low_balance", "mode": "live", "order": null});
    assert_eq!(receive(&receiver, &no_order, SECRET).await?, Receipt::Applied);
    let unknown = with(event("f", 1), json!({"event": "parcel.teleported"}));
    assert_eq!(receive(&receiver, &unknown, SECRET).await?, Receipt::Applied);
    // Events of a later form have no order that others wait for.
    for (at, order) in [json!({"id": 7}), json!({"id": ""}), json!({}), json!("ord_7")].iter().enumerate() {
        let later = json!({"id": format!("evt_later_{at}"), "event": "order.returned", "mode": "live",
            "order": order, "sequence": 1});
        assert_eq!(receive(&receiver, &later, SECRET).await?, Receipt::Applied, "{order}");
    }

    assert_eq!(receiver.forget(0).await?, 0);
    assert!(receiver.forget(SystemEnvironment.now_ms() + 1_000).await? >= 5);
    Ok(())
}

async fn route(
    receiver: Data<Receiver<Postgres>>,
    work: Data<Work>,
    request: HttpRequest,
    payload: Payload,
) -> HttpResponse {
    let answer = waybill_client::actix::receive(&receiver, &request, payload, work.get_ref()).await;
    answer.unwrap_or_else(|_| HttpResponse::ServiceUnavailable().finish())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_route_for_actix_answers_200_401_413_and_503() -> anyhow::Result<()> {
    let (receiver, url) = receiver(Mode::Live).await?;
    let (shared, work) = (Data::new(receiver), Work::default());
    let refused = work.refused.clone();
    let work = Data::new(work);
    let address = test_kit::serve(move |app| {
        app.app_data(shared.clone()).app_data(work.clone()).route("/webhook", web::post().to(route));
    });
    let http = test_kit::client();
    let post = async |event: &Value, secret: &str| -> anyhow::Result<(u16, String)> {
        let body = event.to_string();
        let secrets = Secrets::new([secret])?;
        let mut request = http.post(format!("http://{address}/webhook"));
        for (name, value) in sign_test_event(body.as_bytes(), &secrets, &VerifyOptions::default())? {
            request = request.header(name, value);
        }
        let answer = request.body(body).send().await?;
        Ok((answer.status().as_u16(), answer.text().await?))
    };
    let applied = json!({"received": true, "receipt": "applied"});
    let (status, body) = post(&event("a", 1), SECRET).await?;
    assert_eq!((status, serde_json::from_str::<Value>(&body)?), (200, applied));
    let foreign = "whsec_HxweHRwbGhkYFxYVFBMSERAPDg0MCwoJCAcGBQQDAgE=";
    assert_eq!(post(&event("a", 2), foreign).await?.0, 401);
    let large = with(event("a", 3), json!({"data": "x".repeat(1024 * 1024)}));
    assert_eq!(post(&large, SECRET).await?.0, 413);
    let exploding = with(event("a", 4), json!({"data": {"reason": "explode"}}));
    assert_eq!(post(&exploding, SECRET).await?.0, 503);
    let other_mode = with(event("a", 5), json!({"mode": "test"}));
    assert_eq!(post(&other_mode, SECRET).await?.0, 200);
    assert_eq!(work_of(&url, "a").await?, "evt_a_1 applied");
    assert_eq!(*refused.lock().unwrap_or_else(PoisonError::into_inner), ["mismatch", "other_mode"]);
    Ok(())
}

/// Creates a test order, moves it to its end, and returns its id.
async fn delivered_order(waybill: &Waybill, reference: &str) -> anyhow::Result<String> {
    let order = waybill.orders.create(new_order(reference, 4_900), reference).await?.order;
    for event in MOVES {
        waybill.orders.simulate(&order.id, event).await?;
    }
    Ok(order.id)
}

async fn events_of(waybill: &Waybill, order: &str) -> anyhow::Result<Vec<WebhookEvent>> {
    let mut list = waybill.events.list(EventFilters { limit: Some(2), ..EventFilters::default() });
    let mut found = Vec::new();
    while let Some(event) = list.next().await? {
        found.extend(Some(event).filter(|event| event.order.as_ref().is_some_and(|of| of.id == order)));
    }
    Ok(found)
}

#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Option<String>>>);

impl CursorStore for Memory {
    type Error = anyhow::Error;

    async fn load(&self) -> anyhow::Result<Option<String>> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    async fn save(&self, cursor: &str) -> anyhow::Result<()> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(cursor.to_owned());
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_feed_and_webhooks_share_one_path() -> anyhow::Result<()> {
    let shop = TestShop::open().await?;
    let waybill = shop.test()?;
    let order = delivered_order(&waybill, "first").await?;
    let events = eventually("the order's last event in the feed", async || {
        events_of(&waybill, &order).await.ok().filter(|events| events.len() == 1 + MOVES.len())
    })
    .await;
    assert!(events.iter().map(|event| event.sequence).eq((1..=5).map(Some)), "{events:?}");
    assert!(events[1..].iter().map(|event| event.event.as_str()).eq(MOVES));
    assert_eq!(waybill.events.get(&events[2].id).await?, events[2]);
    let page = waybill.events.page(&EventFilters::default()).await?;
    for (body, event) in page.bodies.iter().zip(&page.data) {
        assert_eq!(&serde_json::from_str::<WebhookEvent>(body)?, event);
    }
    let unknown = EventFilters { types: vec!["parcel.teleported".into()], ..EventFilters::default() };
    assert_eq!(
        waybill.events.page(&unknown).await.err().and_then(|error| Some(error.api()?.status)),
        Some(400)
    );

    a_reader_that_fails_repeats_only_its_event(&waybill).await?;
    a_reader_ends_after_ten_answers_in_a_row_that_cannot_be_read(&shop).await?;

    let (receiver, url) = receiver(Mode::Test).await?;
    let body = json!(events[0]);
    assert_eq!(receive(&receiver, &body, SECRET).await?, Receipt::Applied);
    let work = Work::default();
    let mut receipts = Vec::new();
    let done = Notify::new();
    let on_receipt = |event: &WebhookEvent, receipt: Receipt| {
        if event.order.as_ref().is_some_and(|of| of.id == order) {
            receipts.push(receipt);
            if event.event == "order.delivered" {
                done.notify_one();
            }
        }
    };
    let following = receiver.follow(&waybill, "main", &work, FollowOptions::default(), on_receipt);
    tokio::select! {
        stopped = following => { stopped?; }
        () = done.notified() => {}
    }
    let [first, rest @ ..] = receipts.as_slice() else { bail!("no receipts") };
    assert_eq!((*first, rest), (Receipt::Duplicate, [Receipt::Applied; 4].as_slice()));
    let applied = local_stack::query(&url, "SELECT count(*) = count(DISTINCT event_id) FROM work").await?;
    assert_eq!(applied.trim(), "t");
    let other = Receiver::new(Postgres(url), Secrets::new([SECRET])?, Mode::Live, VerifyOptions::default());
    let refused = other.follow(&waybill, "main", &work, FollowOptions::default(), |_, _| {}).await;
    assert!(refused.is_err(), "the modes differ");
    shop.stack.shut_down().await
}

/// Follows through a proxy that gives these answers first. Returns the codes of the retries, and the reader's error.
async fn follow_through(
    shop: &TestShop,
    proxy: &FaultyProxy,
    faults: Vec<Fault>,
) -> anyhow::Result<(Vec<String>, Option<Error>)> {
    proxy.fail(faults);
    // Each poll is one attempt.
    let options =
        ClientOptions { attempts_max: 1, environment: NoPauses::new(0.0), ..ClientOptions::default() };
    let waybill = Waybill::new(&shop.business.test_key, &proxy.base_url, options)?;
    let retried = Arc::new(Mutex::new(Vec::new()));
    let (seen, answered) = (retried.clone(), Arc::new(Notify::new()));
    let first_page = answered.clone();
    let options = FollowOptions {
        start: Some("now".into()),
        on_page: Some(Box::new(move |_| first_page.notify_one())),
        on_retry: Some(Box::new(move |error: &Error| {
            seen.lock().unwrap_or_else(PoisonError::into_inner).push(error.code().to_owned());
        })),
        ..FollowOptions::default()
    };
    let mut follow = waybill.events.follow(Memory::default(), options).await?;
    let end = tokio::select! {
        event = follow.next() => event.err().and_then(|error| error.downcast().ok()),
        () = answered.notified() => None,
    };
    let retried = retried.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok((retried, end))
}

async fn a_reader_ends_after_ten_answers_in_a_row_that_cannot_be_read(shop: &TestShop) -> anyhow::Result<()> {
    let proxy = FaultyProxy::start(shop.business.order_api()).await?;
    proxy.say("<html>Welcome to the hotel</html>");
    let (retried, end) = follow_through(shop, &proxy, vec![Fault::Status(200); 11]).await?;
    assert_eq!(end.as_ref().map(Error::code), Some(NoAnswer::UnusableAnswer.code()));
    assert_eq!(retried, vec!["unusable_answer"; 9]);
    // An outage in between starts the count again, and never ends the reader.
    let nine = vec![Fault::Status(200); 9];
    let faults = [nine.clone(), vec![Fault::Status(503)], nine, vec![Fault::CutBefore; 20]].concat();
    let (retried, end) = follow_through(shop, &proxy, faults).await?;
    assert_eq!((retried.len(), end), (39, None));

    let waybill = Waybill::new(&shop.business.test_key, &proxy.base_url, ClientOptions::default())?;
    let page = |event: Value| json!({"data": [event], "hasMore": false, "next": "c"}).to_string();
    proxy.say(&page(
        json!({"id": "evt_1", "event": "order.created", "sequence": "one", "order": {"status": 5}}),
    ));
    proxy.fail([Fault::Status(200)]);
    let found = waybill.events.page(&EventFilters::default()).await?;
    assert_eq!((found.data[0].id.as_str(), found.data[0].sequence), ("evt_1", None));
    Ok(())
}

async fn a_reader_that_fails_repeats_only_its_event(waybill: &Waybill) -> anyhow::Result<()> {
    let cursors = Memory::default();
    let (polled, first_poll) = tokio::sync::oneshot::channel();
    let mut polled = Some(polled);
    let on_page = Box::new(move |_: &waybill_client::EventPage| {
        // Only the first poll has a reader that waits.
        let _unread = polled.take().map(|polled| polled.send(()));
    });
    let options =
        FollowOptions { start: Some("now".into()), on_page: Some(on_page), ..FollowOptions::default() };
    let mut follow = waybill.events.follow(cursors.clone(), options).await?;
    let reading = async {
        let mut seen = Vec::new();
        // Its handling of the third event fails.
        while seen.len() < 3 {
            let event = follow.next().await?;
            let is_ours = event.order.as_ref().is_some_and(|order| order.order_reference == "second");
            seen.extend(is_ours.then_some(event.id));
        }
        drop(follow);
        let mut again = waybill.events.follow(cursors, FollowOptions::default()).await?;
        loop {
            let event = again.next().await?;
            if event.order.as_ref().is_some_and(|order| order.order_reference == "second") {
                seen.push(event.id);
                if event.event == "order.delivered" {
                    return anyhow::Ok(seen);
                }
            }
        }
    };
    let ordering = async {
        first_poll.await.context("the first poll")?;
        delivered_order(waybill, "second").await
    };
    let (seen, _order) = tokio::try_join!(reading, ordering)?;
    assert_eq!((seen.len(), &seen[2]), (2 + MOVES.len(), &seen[3]), "{seen:?}");
    Ok(())
}

//! Top-ups that a payment provider confirms later: by webhook or, if that is lost, by a query.

use domain::BusinessId;
use futures_util::future::join_all;
use internal_api::wallet::{PaymentNotice, TopUpView};
use serde_json::{Value, json};
use test_kit::{refused, until};

use crate::fake_razorpay::{FakeRazorpay, WEBHOOK_SECRET, event, sign};
use crate::harness::Harness;
use crate::invariants::assert_consistent;

async fn start() -> (Harness, FakeRazorpay) {
    let razorpay = FakeRazorpay::start();
    let payments = razorpay.settings();
    (Harness::start_with(|settings| settings.payments = payments).await, razorpay)
}

async fn pending(harness: &Harness, business: BusinessId, amount: i64) -> (TopUpView, String) {
    let top_up =
        harness.wallet.top_up(business, None, &json!({"amountPaise": amount})).await.expect("a top-up");
    assert_eq!((top_up.status.as_str(), top_up.provider.as_str()), ("pending", "razorpay"));
    let order = top_up.checkout.clone().expect("a checkout").order_id;
    (top_up, order)
}

/// Posts a webhook and returns its outcome, or status and code of the refusal.
async fn post(harness: &Harness, body: &str) -> Result<String, (u16, String)> {
    post_signed(harness, body, &sign(body, WEBHOOK_SECRET)).await
}

async fn post_signed(harness: &Harness, body: &str, signature: &str) -> Result<String, (u16, String)> {
    let notice = PaymentNotice { signature: signature.to_owned(), body: body.to_owned() };
    match harness.wallet.payment_notice("razorpay", &notice).await {
        Ok(answer) => Ok(answer.outcome),
        error => Err(refused(error)),
    }
}

async fn status(harness: &Harness, business: BusinessId, top_up: &TopUpView) -> String {
    harness.wallet.find_top_up(business, top_up.id).await.expect("a top-up").status
}

/// An instance checks what is due when it starts, and then every four seconds.
fn check_now(harness: &Harness) {
    let _wallet = harness.second_instance();
}

/// Makes the checks of all pending top-ups due.
async fn make_checks_due(harness: &Harness) {
    harness
        .script("UPDATE top_ups SET next_check_at = now() - interval '1 second'")
        .await
        .expect("an update");
}

/// Waits until all pending top-ups were checked: a new, paid one is checked last, and is credited.
async fn check_all_pending(harness: &Harness, razorpay: &FakeRazorpay, payment: &str) {
    let business = harness.business();
    let (last, order) = pending(harness, business, 10_000).await;
    razorpay.pay(&order, payment, 10_000, "captured");
    let due = format!(
        "UPDATE top_ups SET next_check_at = now() - CASE id WHEN '{}' THEN interval '1 second' ELSE interval '2 seconds' END",
        last.id
    );
    harness.script(&due).await.expect("an update");
    check_now(harness);
    until("the last is credited", async || status(harness, business, &last).await == "succeeded").await;
}

#[tokio::test]
async fn webhooks_in_any_order_credit_a_top_up_once() {
    let (harness, razorpay) = start().await;
    let business = harness.business();
    let (top_up, order) = pending(&harness, business, 50_000).await;
    let checkout = top_up.checkout.clone().unwrap();
    assert_eq!((checkout.key_id.as_str(), checkout.amount_paise.get()), ("rzp_test_key", 50_000));
    assert_eq!((checkout.currency.as_str(), top_up.balance_paise.get()), ("INR", 0));
    assert_eq!(harness.wallet.wallet(business).await.unwrap().funded_at, None);

    // The first payment fails. Both events of the second one arrive twice, the later event first.
    let failed = razorpay.pay(&order, "pay_0", 50_000, "failed");
    assert_eq!(post(&harness, &event("payment.failed", &failed)).await.unwrap(), "noted");
    let paid = razorpay.pay(&order, "pay_1", 50_000, "captured");
    let (order_paid, captured) = (event("order.paid", &paid), event("payment.captured", &paid));
    assert_eq!(post(&harness, &order_paid).await.unwrap(), "credited");
    assert_eq!(post(&harness, &order_paid).await.unwrap(), "credited", "the first outcome again");
    assert_eq!(post(&harness, &captured).await.unwrap(), "settled_before");
    assert_eq!(post(&harness, &captured).await.unwrap(), "settled_before");
    let late = event("payment.authorized", &razorpay.pay(&order, "pay_1", 50_000, "authorized"));
    assert_eq!(post(&harness, &late).await.unwrap(), "noted");
    assert_eq!(harness.balance(business).await, 50_000);
    assert_eq!(status(&harness, business, &top_up).await, "succeeded");
    assert_eq!(harness.number("SELECT count(*) FROM payment_notices").await, 4);
    check_all_pending(&harness, &razorpay, "pay_2").await;
    assert_eq!(harness.balance(business).await, 50_000);
    let line = harness.entries(business).await.remove(0);
    assert_eq!((line.kind.as_str(), line.reference), ("top_up", Some(top_up.id.to_string())));
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn concurrent_reports_of_a_payment_credit_it_once() {
    let (harness, razorpay) = start().await;
    let business = harness.business();
    let (_, order) = pending(&harness, business, 50_000).await;
    let paid = razorpay.pay(&order, "pay_1", 50_000, "captured");
    make_checks_due(&harness).await;
    let bodies = [event("order.paid", &paid), event("payment.captured", &paid)];
    let calls = (0..20).map(|call| {
        let (harness, body) = (&harness, &bodies[call % 2]);
        async move { post(harness, body).await }
    });
    let outcomes: Vec<_> = join_all(calls).await.into_iter().map(Result::unwrap).collect();
    assert!(
        outcomes.iter().all(|outcome| outcome == "credited" || outcome == "settled_before"),
        "{outcomes:?}"
    );
    assert_eq!(harness.balance(business).await, 50_000);
    assert_eq!(harness.number("SELECT count(*) FROM transfers").await, 1);
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn a_query_replaces_a_lost_webhook() {
    let (harness, razorpay) = start().await;
    let business = harness.business();
    let (top_up, order) = pending(&harness, business, 50_000).await;
    razorpay.pay(&order, "pay_1", 50_000, "failed");
    razorpay.pay(&order, "pay_2", 50_000, "captured");
    make_checks_due(&harness).await;
    check_now(&harness);
    until("the top-up is finished", async || status(&harness, business, &top_up).await == "succeeded").await;
    assert_eq!(harness.balance(business).await, 50_000);
    // The webhook arrives late.
    let late =
        json!({"id": "pay_2", "amount": 50_000, "currency": "INR", "status": "captured", "order_id": order});
    assert_eq!(post(&harness, &event("order.paid", &late)).await.unwrap(), "settled_before");
    assert_eq!(harness.balance(business).await, 50_000);
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn a_mismatched_payment_is_never_credited() {
    let (harness, razorpay) = start().await;
    let business = harness.business();
    let (top_up, order) = pending(&harness, business, 50_000).await;
    let dollars = |mut payment: Value| {
        payment["currency"] = json!("USD");
        payment
    };
    for payment in [
        razorpay.pay(&order, "pay_1", 49_999, "captured"),
        razorpay.pay(&order, "pay_2", 50_001, "captured"),
        razorpay.pay(&order, "pay_3", -50_000, "captured"),
        dollars(razorpay.pay(&order, "pay_4", 50_000, "captured")),
    ] {
        let outcome = post(&harness, &event("order.paid", &payment)).await;
        assert_eq!(outcome.unwrap(), "mismatch", "{payment}");
    }
    assert_eq!(harness.balance(business).await, 0);
    assert_eq!(status(&harness, business, &top_up).await, "pending");

    // The right payment is credited; a second one is not.
    let paid = razorpay.pay(&order, "pay_5", 50_000, "captured");
    assert_eq!(post(&harness, &event("order.paid", &paid)).await.unwrap(), "credited");
    let again = razorpay.pay(&order, "pay_6", 50_000, "captured");
    assert_eq!(post(&harness, &event("order.paid", &again)).await.unwrap(), "mismatch");
    assert_eq!(harness.balance(business).await, 50_000);
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn a_credited_payment_pays_for_no_other_top_up() {
    let (harness, razorpay) = start().await;
    let (business, other) = (harness.business(), harness.business());
    let (_, first) = pending(&harness, business, 50_000).await;
    let paid = razorpay.pay(&first, "pay_1", 50_000, "captured");
    assert_eq!(post(&harness, &event("order.paid", &paid)).await.unwrap(), "credited");
    for owner in [business, other] {
        let (second, order) = pending(&harness, owner, 50_000).await;
        let again = razorpay.pay(&order, "pay_1", 50_000, "captured");
        for _ in 0..2 {
            // A final answer, so that the provider stops sending it.
            assert_eq!(post(&harness, &event("order.paid", &again)).await.unwrap(), "mismatch");
        }
        assert_eq!(status(&harness, owner, &second).await, "pending");
        // A query does not credit it either, but credits another payment.
        check_all_pending(&harness, &razorpay, &format!("pay_of_{owner}")).await;
        assert_eq!(status(&harness, owner, &second).await, "pending");
        let fresh = razorpay.pay(&order, "pay_2", 50_000, "captured");
        if owner == business {
            assert_eq!(post(&harness, &event("order.paid", &fresh)).await.unwrap(), "credited");
        }
    }
    assert_eq!((harness.balance(business).await, harness.balance(other).await), (100_000, 0));
    let noted =
        "SELECT count(*) FROM payment_notices WHERE outcome = 'mismatch' AND payment_reference = 'pay_1'";
    assert_eq!(harness.number(noted).await, 2);
    assert_consistent(&harness).await;
}

/// The first one is credited, and no call asks for a retry.
#[tokio::test]
async fn a_payment_reported_for_many_top_ups_is_credited_once() {
    let (harness, razorpay) = start().await;
    let mut bodies = Vec::new();
    for _ in 0..8 {
        let (_, order) = pending(&harness, harness.business(), 50_000).await;
        bodies.push(event("order.paid", &razorpay.pay(&order, "pay_1", 50_000, "captured")));
    }
    let mut outcomes: Vec<_> = join_all(bodies.iter().map(|body| post(&harness, body)))
        .await
        .into_iter()
        .map(|outcome| outcome.expect("an answer for good"))
        .collect();
    outcomes.sort_unstable();
    assert_eq!(
        (outcomes.remove(0).as_str(), outcomes.as_slice()),
        ("credited", ["mismatch"; 7].map(String::from).as_slice())
    );
    assert_eq!(harness.number("SELECT count(*) FROM transfers").await, 1);
    assert_consistent(&harness).await;
}

/// The header with the event's id is not signed, so an attacker could change it.
#[tokio::test]
async fn an_unsigned_event_id_blocks_no_other_notice() {
    let (harness, razorpay) = start().await;
    let business = harness.business();
    let (_, order) = pending(&harness, business, 50_000).await;
    let failed = event("payment.failed", &razorpay.pay(&order, "pay_0", 50_000, "failed"));
    let paid = event("order.paid", &razorpay.pay(&order, "pay_1", 50_000, "captured"));
    let url = harness.internal.join("/internal/payments/razorpay/notices").expect("a path");
    for (body, outcome) in [(failed, "noted"), (paid, "credited")] {
        let notice = json!({"signature": sign(&body, WEBHOOK_SECRET), "eventId": "ev_1", "body": body});
        let token = harness.settings.internal.token.expose();
        let sent = test_kit::client().post(url.clone()).bearer_auth(token).json(&notice).send().await;
        let answer: Value = sent.expect("an answer").json().await.expect("JSON");
        assert_eq!(answer["outcome"], outcome);
    }
    assert_eq!(harness.balance(business).await, 50_000);
}

#[tokio::test]
async fn an_unsigned_notice_writes_nothing() {
    let (harness, razorpay) = start().await;
    let business = harness.business();
    let (_, order) = pending(&harness, business, 50_000).await;
    let body = event("order.paid", &razorpay.pay(&order, "pay_1", 50_000, "captured"));
    let unsigned = Err((401, "payment_signature_invalid".to_owned()));
    for signature in
        ["", "00", "x", &sign(&body, "another secret"), &sign(&format!("{body} "), WEBHOOK_SECRET)]
    {
        assert_eq!(post_signed(&harness, &body, signature).await, unsigned, "{signature}");
    }
    let unreadable = Err((400, "payment_notice_unreadable".to_owned()));
    assert_eq!(post(&harness, "{}").await, unreadable);
    assert_eq!(post(&harness, "").await, unreadable);
    let notice = PaymentNotice { signature: String::new(), body: String::new() };
    for provider in ["sandbox", "stripe", ".."] {
        let unknown = harness.wallet.payment_notice(provider, &notice).await;
        assert_eq!(refused(unknown).0, 404, "{provider}");
    }
    // Signed, but about something else in the same account.
    let other = event("order.paid", &razorpay.pay("order_77", "pay_7", 50_000, "captured"));
    assert_eq!(post(&harness, &other).await.unwrap(), "ignored");
    assert_eq!(post(&harness, "{\"event\": \"settlement.processed\"}").await.unwrap(), "ignored");
    assert_eq!(harness.number("SELECT count(*) FROM payment_notices").await, 0);
    assert_eq!(harness.number("SELECT count(*) FROM entries").await, 0);
}

#[tokio::test]
async fn a_repeated_request_with_its_key_pays_once() {
    let (harness, razorpay) = start().await;
    let business = harness.business();
    let ask = async |key: &str, amount: i64| {
        harness.wallet.top_up(business, Some(key), &json!({"amountPaise": amount})).await
    };
    // The provider's response is lost: 503. The repeated request finds the same order.
    razorpay.lose_answers(true);
    assert!(ask("k1", 50_000).await.is_err());
    razorpay.lose_answers(false);
    let top_up = ask("k1", 50_000).await.unwrap();
    assert_eq!(top_up.checkout.as_ref().unwrap().order_id, "order_1");
    assert_eq!((razorpay.orders(), ask("k1", 50_000).await.unwrap()), (1, top_up.clone()));
    let reused = ask("k1", 50_001).await;
    assert_eq!(refused(reused), (422, "idempotency_key_reused".to_owned()));
    assert_ne!(ask("k2", 50_000).await.unwrap().id, top_up.id);

    let paid = razorpay.pay("order_1", "pay_1", 50_000, "captured");
    post(&harness, &event("order.paid", &paid)).await.unwrap();
    let again = ask("k1", 50_000).await.unwrap();
    assert_eq!((again.id, again.status.as_str(), again.checkout), (top_up.id, "succeeded", None));
    assert_eq!(harness.number("SELECT count(*) FROM top_ups").await, 2);
    assert_eq!(harness.balance(business).await, 50_000);
    // Keys are unique per business.
    let other = harness.wallet.top_up(harness.business(), Some("k1"), &json!({"amountPaise": 700})).await;
    assert_eq!(other.unwrap().amount_paise.get(), 700);
}

#[tokio::test]
async fn a_refused_top_up_fails_and_an_unanswered_one_can_be_repeated() {
    let (harness, razorpay) = start().await;
    let business = harness.business();
    let ask = async |amount: i64| {
        harness.wallet.top_up(business, Some("k1"), &json!({"amountPaise": amount})).await
    };
    assert_eq!(refused(ask(99).await), (422, "top_up_refused".to_owned()));
    assert_eq!(harness.number("SELECT count(*) FROM top_ups WHERE status = 'failed'").await, 1);
    // A failed top-up releases its key, so another amount may use it.
    razorpay.set_unavailable(true);
    assert!(matches!(ask(100).await, Err(internal_api::CallError::Unavailable { .. })));
    make_checks_due(&harness).await;
    razorpay.set_unavailable(false);
    let top_up = ask(100).await.unwrap();
    assert_eq!(top_up.status, "pending");
    // An unpaid top-up fails after a week, and a later payment is still credited.
    let order = top_up.checkout.clone().unwrap().order_id;
    harness.script("UPDATE top_ups SET created_at = now() - interval '8 days'").await.unwrap();
    make_checks_due(&harness).await;
    check_now(&harness);
    until("the top-up to fail", async || status(&harness, business, &top_up).await == "failed").await;
    let paid = razorpay.pay(&order, "pay_1", 100, "captured");
    assert_eq!(post(&harness, &event("order.paid", &paid)).await.unwrap(), "credited");
    assert_eq!(
        (status(&harness, business, &top_up).await.as_str(), harness.balance(business).await),
        ("succeeded", 100)
    );
    assert_consistent(&harness).await;
}

/// The sandbox credits immediately, but a crash may happen between storing the top-up and crediting it.
#[tokio::test]
async fn a_top_up_that_a_crash_interrupted_is_completed() {
    let harness = Harness::start().await;
    let business = harness.business();
    let id = domain::TopUpId::generate(&harness.clock, &harness.entropy);
    let left = format!(
        "INSERT INTO top_ups (id, business_id, provider, amount_paise, status, created_at, next_check_at, idempotency_key)
            VALUES ('{id}', '{business}', 'sandbox', 700, 'pending', now(), now(), 'k1')"
    );
    harness.script(&left).await.unwrap();
    check_now(&harness);
    until("it is finished", async || harness.balance(business).await == 700).await;
    // The caller got no response and repeats the request.
    let body = json!({"amountPaise": 700});
    let again = harness.wallet.top_up(business, Some("k1"), &body).await.unwrap();
    assert_eq!((again.id, again.status.as_str(), again.balance_paise.get()), (id, "succeeded", 700));
    let calls = (0..10).map(|_| harness.wallet.top_up(business, Some("k2"), &body));
    let ids: Vec<_> = join_all(calls).await.into_iter().map(|top_up| top_up.unwrap().id).collect();
    assert!(ids.iter().all(|id| *id == ids[0]));
    assert_eq!(harness.balance(business).await, 1_400);
    assert_consistent(&harness).await;
}

/// A pending sandbox top-up is not credited once a real provider is configured.
#[tokio::test]
async fn a_sandbox_top_up_is_not_credited_by_a_real_provider() {
    let (harness, _) = start().await;
    let business = harness.business();
    let id = domain::TopUpId::generate(&harness.clock, &harness.entropy);
    let left = format!(
        "INSERT INTO top_ups (id, business_id, provider, amount_paise, status, created_at, next_check_at)
            VALUES ('{id}', '{business}', 'sandbox', 700, 'pending', now() - interval '8 days', now())"
    );
    harness.script(&left).await.unwrap();
    check_now(&harness);
    let failed = "SELECT count(*) FROM top_ups WHERE status = 'failed'";
    until("the top-up to fail", async || harness.number(failed).await == 1).await;
    assert_eq!(harness.balance(business).await, 0);
}

#[tokio::test]
async fn a_refund_that_is_reported_before_its_payment_is_booked_with_it() {
    let (harness, razorpay) = start().await;
    let business = harness.business();
    let (_, order) = pending(&harness, business, 50_000).await;
    let paid = razorpay.pay(&order, "pay_1", 50_000, "captured");
    let refund = json!({"id": "rfnd_1", "payment_id": "pay_1", "amount": 20_000, "currency": "INR", "status": "processed"});
    let refunded = |refund: &Value, payment: &Value| {
        json!({"event": "refund.processed", "payload": {"payment": {"entity": payment}, "refund": {"entity": refund}}})
            .to_string()
    };
    assert_eq!(post(&harness, &refunded(&refund, &paid)).await.unwrap(), "noted");
    assert_eq!(post(&harness, &event("order.paid", &paid)).await.unwrap(), "credited");
    assert_eq!(harness.balance(business).await, 30_000);

    // A second payment was never credited, so its refund takes nothing.
    let second = razorpay.pay(&order, "pay_2", 50_000, "captured");
    assert_eq!(post(&harness, &event("payment.captured", &second)).await.unwrap(), "mismatch");
    let mut refund = refund;
    (refund["id"], refund["payment_id"]) = (json!("rfnd_2"), json!("pay_2"));
    assert_eq!(post(&harness, &refunded(&refund, &second)).await.unwrap(), "noted");
    assert_eq!(harness.balance(business).await, 30_000);
    assert_consistent(&harness).await;
}

#[tokio::test]
async fn five_top_ups_of_a_business_may_wait_for_their_payment() {
    let (harness, _razorpay) = start().await;
    let business = harness.business();
    let mut waiting = Vec::new();
    for _ in 0..5 {
        waiting.push(pending(&harness, business, 50_000).await.0);
    }
    let sixth = harness.wallet.top_up(business, None, &json!({"amountPaise": 50_000})).await;
    assert_eq!(refused(sixth), (409, "too_many_pending_top_ups".to_owned()));
    assert_eq!(harness.wallet.pending_top_ups(business).await.unwrap().data, waiting);
    pending(&harness, harness.business(), 50_000).await;

    // After an hour the oldest gives way.
    harness.script("UPDATE top_ups SET created_at = created_at - interval '61 minutes'").await.unwrap();
    pending(&harness, business, 50_000).await;
    assert_eq!(status(&harness, business, &waiting[0]).await, "failed");
    let left = harness.wallet.pending_top_ups(business).await.unwrap().data;
    assert_eq!((left.len(), left[0].id), (5, waiting[1].id));
}

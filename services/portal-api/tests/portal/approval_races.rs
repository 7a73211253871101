//! Approvals under races, removals, and a wallet or database that fails.

use diesel_async::SimpleAsyncConnection;
use serde_json::json;
use test_kit::{Gate, Program, service_command, until};

use crate::client::Client;
use crate::log_in_races::commit_when_awaited;
use crate::office::{APPROVALS, ON, Office, approve, credited, state, step};
use crate::portal::Portal;
use crate::staff::{STAFF, person};

/// Both approvers wait for the row, so that both have passed the guard.
#[tokio::test]
async fn two_approvers_at_once_get_the_same_result() {
    let mut office = Office::open().await;
    office.wallet_answers(700, "invoice-7");
    let (mut mira, _) = person(&office.portal, "mira@carrier.example", "finance").await;
    let id = office.requested_credit().await;
    let mut holding = office.portal.connect().await;
    holding.batch_execute("BEGIN; SELECT FROM operator_approvals FOR UPDATE").await.unwrap();
    let (one, other, ()) = tokio::join!(
        approve(&mut office.ravi, &id),
        approve(&mut mira, &id),
        commit_when_awaited(&office.portal, &mut holding, 2)
    );
    assert_eq!((one.status, other.status), (200, 200), "{one:?} {other:?}");
    assert_eq!(one.body["state"], "executed");
    for field in ["outcome", "decidedBy", "decidedAt", "state"] {
        assert_eq!(one.body[field], other.body[field], "{field}");
    }
    let asked = office.portal.peers.asked(&office.wallet_call());
    assert!(asked.iter().all(|one| one.body == asked[0].body), "the same reference: {asked:?}");
    let log = "/v1/operator/audit-log?action=wallet.credited";
    assert_eq!(office.portal.operator().get(log).await.body["data"].as_array().unwrap().len(), 1);
    let log = "/v1/operator/audit-log?action=approval.approved";
    assert_eq!(office.portal.operator().get(log).await.body["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn of_an_approval_a_rejection_and_a_withdrawal_at_once_one_counts() {
    let mut office = Office::open().await;
    office.wallet_answers(700, "invoice-7");
    let (mut mira, _) = person(&office.portal, "mira@carrier.example", "finance").await;
    let id = office.requested_credit().await;
    let mut holding = office.portal.connect().await;
    holding.batch_execute("BEGIN; SELECT FROM operator_approvals FOR UPDATE").await.unwrap();
    let (reject, withdraw) = (step(&id, "reject"), step(&id, "withdraw"));
    let (approved, rejected, withdrawn, ()) = tokio::join!(
        approve(&mut office.ravi, &id),
        mira.post(&reject, json!({ "reason": "no" })),
        office.asha.press(&withdraw),
        commit_when_awaited(&office.portal, &mut holding, 3)
    );
    let mut statuses = [approved.status, rejected.status, withdrawn.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409]);
    let credits = office.portal.peers.asked(&office.wallet_call()).len();
    assert_eq!(credits, usize::from(approved.status == 200));
}

/// The requester waits for the lock of new requests with the others.
#[tokio::test]
async fn the_same_request_twice_at_once_is_one() {
    let office = Office::open().await;
    let mut holding = office.portal.connect().await;
    let lock = "BEGIN; SELECT pg_advisory_xact_lock(x'617070726f766573'::bigint)";
    holding.batch_execute(lock).await.unwrap();
    let path = office.path("/wallet/credits");
    let body = json!({ "amountPaise": 700, "reference": "invoice-7" });
    let (mut here, mut there) = (office.asha.clone(), office.asha.clone());
    let (one, other, ()) = tokio::join!(
        here.post(&path, body.clone()),
        there.post(&path, body.clone()),
        commit_when_awaited(&office.portal, &mut holding, 2)
    );
    assert_eq!((one.status, &one.body["id"]), (202, &other.body["id"]));
}

async fn leave(office: &Office, id: &str, how: &str) {
    let (path, mut operator) = (format!("{STAFF}/{id}"), office.portal.operator());
    let left = match how {
        "removed" => operator.delete(&path).await,
        role => operator.patch(&path, json!({ "role": role })).await,
    };
    assert!(left.status < 300, "{left:?}");
}

#[tokio::test]
async fn a_request_of_someone_who_has_left_or_lost_the_permission_is_not_executed() {
    for how in ["removed", "viewer", "support"] {
        let mut office = Office::open().await;
        office.wallet_answers(700, "invoice-7");
        let id = office.requested_credit().await;
        leave(&office, &office.ashas.clone(), how).await;
        let refused = approve(&mut office.ravi, &id).await;
        assert_eq!((refused.status, refused.code()), (409, "requester_inactive"), "{how}: {refused:?}");
        assert!(office.portal.peers.asked(&office.wallet_call()).is_empty());
        let rejected = office.ravi.post(&step(&id, "reject"), json!({ "reason": "left" })).await;
        assert_eq!(rejected.status, 200, "{rejected:?}");
    }
}

#[tokio::test]
async fn a_token_that_was_disabled_meanwhile_gets_nothing() {
    let mut office = Office::open().await;
    let body = json!({ "name": "robot", "role": "finance" });
    let token = office.portal.operator().post("/v1/operator/tokens", body).await.body;
    let mut robot = office.portal.stranger().with_bearer(token["token"].as_str().unwrap());
    let path = office.path("/wallet/credits");
    let requested = robot.post(&path, json!({ "amountPaise": 700, "reference": "invoice-7" })).await;
    let disable = format!("/v1/operator/tokens/{}/disable", token["id"].as_str().unwrap());
    assert_eq!(office.portal.operator().press(&disable).await.status, 204);
    let refused = approve(&mut office.ravi, requested.body["id"].as_str().unwrap()).await;
    assert_eq!((refused.status, refused.code()), (409, "requester_inactive"));
}

#[tokio::test]
async fn an_approver_who_has_left_or_lost_the_permission_approved_no_link() {
    for how in ["removed", "finance"] {
        let mut office = Office::open().await;
        let path = office.path("/password-resets");
        let requested = office.asha.post(&path, json!({ "email": "owner@shop.example" })).await;
        let id = requested.body["id"].as_str().unwrap().to_owned();
        assert_eq!(approve(&mut office.ravi, &id).await.body["state"], "approved");
        leave(&office, &office.ravis.clone(), how).await;
        let refused = office.asha.press(&step(&id, "reset-link")).await;
        assert_eq!((refused.status, refused.code()), (409, "approver_inactive"), "{how}: {refused:?}");
    }
}

/// The approver's removal commits while the approval waits behind it.
#[tokio::test]
async fn an_approver_who_is_removed_at_the_same_moment_approves_nothing() {
    let mut office = Office::open().await;
    office.wallet_answers(700, "invoice-7");
    let id = office.requested_credit().await;
    let mut removing = office.portal.connect().await;
    let remove = format!(
        "BEGIN; SELECT pg_advisory_xact_lock(x'7374616666'::bigint); DELETE FROM accounts WHERE id = '{}'",
        office.ravis
    );
    removing.batch_execute(&remove).await.unwrap();
    let (refused, ()) =
        tokio::join!(approve(&mut office.ravi, &id), commit_when_awaited(&office.portal, &mut removing, 1));
    assert_eq!((refused.status, refused.code()), (403, "permission_missing"), "{refused:?}");
    assert!(office.portal.peers.asked(&office.wallet_call()).is_empty());
}

#[tokio::test]
async fn a_wallet_that_does_not_answer_leaves_the_approval_executable() {
    let mut office = Office::open().await;
    let call = office.wallet_call();
    office.portal.peers.answer(&call, 503, json!({ "code": "temporarily_unavailable", "message": "Later." }));
    let id = office.requested_credit().await;
    for _ in 0..2 {
        let away = approve(&mut office.ravi, &id).await;
        assert_eq!((away.status, away.code()), (503, "temporarily_unavailable"), "{away:?}");
        assert_eq!(state(&office, &id).await, "approved");
    }
    for call in [("reject", &mut office.ravi), ("withdraw", &mut office.asha)] {
        let refused = call.1.post(&step(&id, call.0), json!({ "reason": "no" })).await;
        assert_eq!((refused.status, refused.code()), (409, "wrong_approval_state"), "it may be credited");
    }
    // Long after the end of the request.
    office.portal.clock.advance(chrono::TimeDelta::days(2));
    let mut ravi: Client = crate::staff::log_in(&office.portal, "ravi@carrier.example").await;
    office.wallet_answers(700, "invoice-7");
    let done = approve(&mut ravi, &id).await;
    assert_eq!((done.status, &done.body["state"]), (200, &json!("executed")), "{done:?}");
    let asked = office.portal.peers.asked(&call);
    assert_eq!(asked.len(), 3);
    assert!(asked.iter().all(|one| one.body == asked[0].body), "the same reference each time");
}

/// As after a kill between the wallet's answer and the commit: the credit is posted, and the request does not know.
#[tokio::test]
async fn a_crash_after_the_credit_is_finished_by_the_next_approval_at_another_instance() {
    let mut office = Office::open().await;
    office.wallet_answers(700, "invoice-7");
    let id = office.requested_credit().await;
    let broken = "ALTER TABLE operator_approvals ADD CONSTRAINT broken CHECK (state <> 'executed') NOT VALID";
    office.portal.connect().await.batch_execute(broken).await.unwrap();
    assert_eq!(approve(&mut office.ravi, &id).await.status, 500);
    assert_eq!(state(&office, &id).await, "approved");
    let fixed = "ALTER TABLE operator_approvals DROP CONSTRAINT broken";
    office.portal.connect().await.batch_execute(fixed).await.unwrap();
    let another: Portal = office.portal.another();
    let done = approve(&mut office.ravi.clone().at(another.public), &id).await;
    assert_eq!((done.status, &done.body["state"]), (200, &json!("executed")), "{done:?}");
    let asked = office.portal.peers.asked(&office.wallet_call());
    assert_eq!((asked.len(), &asked[0].body), (2, &asked[1].body));
    let log = "/v1/operator/audit-log?action=wallet.credited";
    assert_eq!(office.portal.operator().get(log).await.body["data"].as_array().unwrap().len(), 1);
}

/// The wallet has the request, and its answer never arrives.
#[tokio::test(flavor = "multi_thread")]
async fn a_kill_during_a_credit_is_finished_by_the_next_approval() {
    let mut office = Office::at(Portal::connected_with(&ON).await).await;
    let id = office.requested_credit().await;
    let (settings, wallet) = (&office.portal.settings, office.portal.settings.peers.wallet.to_string());
    let program = env!("CARGO_BIN_EXE_portal-api");
    let mut command = service_command(program, "serve", &settings.database, &settings.broker);
    command.env("WAYBILL_HTTP__PUBLIC", "127.0.0.1:0").env("WAYBILL_PEERS__WALLET", wallet);
    let mut program = Program::start(&mut command);
    let public = program.next_address().socket_addrs(|| None).unwrap()[0];
    program.serves().await;
    office.portal.peers.silence("wallet");
    let (mut elsewhere, killed) = (office.ravi.clone().at(public), id.clone());
    let answer = tokio::spawn(async move { approve(&mut elsewhere, &killed).await });
    let call = office.wallet_call();
    until("the wallet is asked", async || office.portal.peers.asked(&call).len() == 1).await;
    program.kill();
    assert!(answer.await.is_err(), "no answer");
    assert_eq!(state(&office, &id).await, "approved");
    office.portal.peers.recover();
    office.wallet_answers(700, "invoice-7");
    let done = approve(&mut office.ravi, &id).await;
    assert_eq!((done.status, &done.body["state"]), (200, &json!("executed")), "{done:?}");
    let asked = office.portal.peers.asked(&call);
    assert_eq!((asked.len(), &asked[0].body), (2, &asked[1].body));
}

#[tokio::test]
async fn a_credit_that_the_wallet_refuses_for_good_fails_and_another_refusal_does_not() {
    let mut office = Office::open().await;
    let call = office.wallet_call();
    let id = office.requested_credit().await;
    office.portal.peers.answer(&call, 409, json!({ "code": "balance_too_large", "message": "Too large." }));
    let refused = approve(&mut office.ravi, &id).await;
    assert_eq!((refused.status, refused.code()), (409, "balance_too_large"));
    assert_eq!(state(&office, &id).await, "approved");
    office.portal.peers.answer(
        &call,
        409,
        json!({ "code": "reference_reused", "message": "Another amount." }),
    );
    let refused = approve(&mut office.ravi, &id).await;
    assert_eq!((refused.status, refused.code()), (409, "reference_reused"));
    let read = office.ravi.get(&format!("{APPROVALS}/{id}")).await.body;
    assert_eq!((&read["state"], &read["outcome"]), (&json!("failed"), &json!("reference_reused")));
    assert_eq!(approve(&mut office.ravi, &id).await.body["state"], "failed");
    assert_eq!(office.portal.peers.asked(&call).len(), 2);
}

/// The wallet refuses one approval and books the other: a top-up arrived in between. The refusal is recorded first.
#[tokio::test]
async fn money_that_was_moved_is_executed_although_a_refusal_was_recorded_before() {
    let mut office = Office::open().await;
    let (mut mira, _) = person(&office.portal, "mira@carrier.example", "finance").await;
    let id = office.requested_credit().await;
    office.wallet_answers(700, "invoice-7");
    // After the wallet's answer, before the outcome is recorded.
    let database = office.portal.settings.database.url.expose();
    let gate = Gate::close(database, "go_live_facts", "UPDATE", "TRUE").await;
    let refused_first = async {
        gate.reached().await;
        let code = json!({ "code": "insufficient_balance", "message": "Too little." });
        office.portal.peers.answer(office.wallet_call(), 409, code);
        let refused = approve(&mut mira, &id).await;
        assert_eq!((refused.status, refused.code()), (409, "insufficient_balance"), "{refused:?}");
        assert_eq!(state(&office, &id).await, "failed");
        gate.open().await;
    };
    let mut ravi = office.ravi.clone();
    let (booked, ()) = tokio::join!(approve(&mut ravi, &id), refused_first);
    assert_eq!((booked.status, &booked.body["state"]), (200, &json!("executed")), "{booked:?}");
    assert_eq!(approve(&mut mira, &id).await.body, booked.body);
}

#[tokio::test]
async fn a_request_whose_money_another_call_moved_says_so_and_is_not_executed() {
    let mut office = Office::open().await;
    let first = office.requested_credit().await;
    let path = office.path("/wallet/credits");
    let same = json!({ "amountPaise": 700, "reference": "invoice-7" });
    let second = office.ravi.post(&path, same).await.body["id"].as_str().unwrap().to_owned();
    office.wallet_answers(700, "invoice-7");
    assert_eq!(approve(&mut office.ravi, &first).await.body["state"], "executed");
    let mut before = credited(700, "invoice-7");
    before["createdAt"] = json!(office.portal.clock.now());
    before["alreadyCredited"] = json!(true);
    office.portal.clock.advance(chrono::TimeDelta::milliseconds(1));
    let third = office.ravi.post(&path, json!({ "amountPaise": 700, "reference": "invoice-8" })).await;
    let third = third.body["id"].as_str().unwrap().to_owned();
    // The first request made this transfer; the other one is older than the third request.
    let (made, older) = (before["transferId"].clone(), json!("trf_01ARZ3NDEKTSV4RRFFQ69G5FAW"));
    for (id, transfer) in [(second, made), (third, older)] {
        before["transferId"] = transfer;
        office.portal.peers.answer(office.wallet_call(), 200, before.clone());
        let told = approve(&mut office.asha, &id).await.body;
        assert_eq!(
            (&told["state"], &told["outcome"]),
            (&json!("failed"), &json!("already_booked")),
            "{told}"
        );
        assert_eq!(told["bookedAt"], before["createdAt"]);
    }
}

/// A defect in the code must not be able to store an approval by the requester.
#[tokio::test]
async fn the_database_refuses_a_decision_by_the_requester_or_without_a_person() {
    let mut office = Office::open().await;
    office.requested_credit().await;
    let mut conn = office.portal.connect().await;
    for set in [
        "state = 'approved'",
        "state = 'executed', expires_at = NULL, ended_at = now()",
        "decider_id = requester_id, decider_email = 'x', decided_at = now()",
    ] {
        let sql = format!("UPDATE operator_approvals SET {set}");
        assert!(conn.batch_execute(&sql).await.is_err(), "{set}");
    }
}

//! Approvals of the operator: who may decide, what is executed, and how often.

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::office::{APPROVALS, Office, TRANSFER, approve, credit, credited, id_of, step};
use crate::portal::OPERATOR_TOKEN;
use crate::staff::{accept, log_in, person};

#[tokio::test]
async fn a_credit_above_the_limit_waits_for_another_person_and_is_made_once() {
    let mut office = Office::open().await;
    office.wallet_answers(700, "invoice-7");
    let call = office.wallet_call();
    let id = office.requested_credit().await;
    assert_eq!(office.requested_credit().await, id, "a repeated call is the same request");
    assert!(office.portal.peers.asked(&call).is_empty(), "nothing is executed yet");
    let own = approve(&mut office.asha, &id).await;
    assert_eq!((own.status, own.code()), (403, "own_request"));
    let mut elsewhere = log_in(&office.portal, "asha@carrier.example").await;
    assert_eq!(
        approve(&mut elsewhere, &id).await.code(),
        "own_request",
        "another session is no other person"
    );

    let approved = office.ravi.post(&step(&id, "approve"), json!({ "reason": "Seen the transfer." })).await;
    assert_eq!((approved.status, &approved.body["state"]), (200, &json!("executed")), "{approved:?}");
    assert_eq!(approved.body["outcome"], TRANSFER);
    assert_eq!(approved.body["reason"], "Seen the transfer.");
    assert_eq!(
        (&approved.body["requestedBy"]["name"], &approved.body["decidedBy"]["name"]),
        (&json!("asha@carrier.example"), &json!("ravi@carrier.example"))
    );
    assert_eq!(approved.body["parameters"], credit(700));
    let again = approve(&mut office.ravi, &id).await;
    assert_eq!((again.status, &again.body), (200, &approved.body), "the first result");
    let asked = office.portal.peers.asked(&call);
    assert_eq!((asked.len(), &asked[0].body), (1, &credit(700)));
    let missing = office.portal.ordering(&office.business).await["missing"].clone();
    assert!(!missing.to_string().contains("wallet_funded"), "{missing}");

    office.wallet_answers(500, "small");
    let path = office.path("/wallet/credits");
    let small = office.asha.post(&path, json!({ "amountPaise": 500, "reference": "small" })).await;
    assert_eq!(small.status, 201, "not above the limit: {small:?}");
}

#[tokio::test]
async fn tokens_request_and_never_approve() {
    let mut office = Office::open().await;
    let body = json!({ "name": "robot", "role": "administrator" });
    let token = office.portal.operator().post("/v1/operator/tokens", body).await;
    let mut robot = office.portal.stranger().with_bearer(token.body["token"].as_str().unwrap());
    let mut console = office.portal.stranger();
    console.post("/v1/operator/session", json!({ "token": OPERATOR_TOKEN })).await;
    let of_asha = office.requested_credit().await;
    let path = office.path("/wallet/credits");
    let (mut configured, mut same) = (office.portal.operator(), console.clone());
    let mut ids = Vec::new();
    for caller in [&mut robot, &mut configured] {
        ids.push(id_of(&caller.post(&path, credit(700)).await));
    }
    assert_ne!(ids[0], ids[1]);
    assert_eq!(id_of(&same.post(&path, credit(700)).await), ids[1], "both are the configured token");
    ids.push(of_asha);
    for caller in [&mut robot, &mut configured, &mut console] {
        for id in &ids {
            let refused = approve(caller, id).await;
            assert_eq!((refused.status, refused.code()), (403, "person_required"), "{refused:?}");
            let refused = caller.post(&step(id, "reject"), json!({ "reason": "no" })).await;
            assert_eq!(refused.code(), "person_required");
        }
    }
    office.wallet_answers(700, "invoice-7");
    for id in &ids[..2] {
        assert_eq!(approve(&mut office.asha, id).await.status, 200);
    }
    assert_eq!(
        office.portal.peers.asked(&office.wallet_call()).len(),
        2,
        "the wallet credits a reference once"
    );
}

#[tokio::test]
async fn a_suspension_is_lifted_by_two_however_it_is_changed() {
    let mut office = Office::open().await;
    let path = office.path("");
    for status in ["active", "suspended"] {
        assert_eq!(office.asha.patch(&path, json!({ "status": status })).await.status, 200, "{status}");
    }
    let inactive = office.asha.patch(&path, json!({ "status": "inactive" })).await;
    id_of(&inactive);
    let both = json!({ "status": "active", "liveAccess": "active" });
    let id = id_of(&office.asha.patch(&path, both).await);
    assert_eq!(office.asha.get(&path).await.body["status"], "suspended");
    assert_eq!(office.asha.get(&path).await.body["liveAccess"], "inactive", "nothing is changed");
    let access = office.asha.patch(&path, json!({ "liveAccess": "inactive" })).await;
    assert_eq!(access.status, 200, "the suspension stays: {access:?}");

    let approved = approve(&mut office.ravi, &id).await;
    assert_eq!((approved.status, &approved.body["state"]), (200, &json!("executed")), "{approved:?}");
    let read = office.asha.get(&path).await.body;
    assert_eq!((&read["status"], &read["liveAccess"]), (&json!("active"), &json!("active")));
    assert_eq!(approve(&mut office.ravi, &id).await.body, approved.body);
}

#[tokio::test]
async fn rejected_withdrawn_and_expired_requests_execute_nothing() {
    let mut office = Office::open().await;
    office.wallet_answers(700, "invoice-7");
    let rejected = office.requested_credit().await;
    let answer = office.ravi.post(&step(&rejected, "reject"), json!({ "reason": "No such transfer." })).await;
    assert_eq!((answer.status, &answer.body["state"]), (200, &json!("rejected")), "{answer:?}");
    let withdrawn = office.requested_credit().await;
    assert_ne!(withdrawn, rejected, "a decided request is not open");
    assert_eq!(office.ravi.press(&step(&withdrawn, "withdraw")).await.code(), "not_requester");
    assert_eq!(office.asha.press(&step(&withdrawn, "withdraw")).await.body["state"], "withdrawn");
    let expired = office.requested_credit().await;
    office.portal.clock.advance(TimeDelta::hours(24));
    office.ravi = log_in(&office.portal, "ravi@carrier.example").await;
    for (id, state) in [(rejected, "rejected"), (withdrawn, "withdrawn"), (expired, "expired")] {
        let refused = approve(&mut office.ravi, &id).await;
        assert_eq!((refused.status, &refused.body["state"]), (409, &json!(state)), "{refused:?}");
        let listed = office.ravi.get(&format!("{APPROVALS}?state={state}")).await;
        assert_eq!(listed.body["data"][0]["id"], id, "{listed:?}");
    }
    assert!(office.portal.peers.asked(&office.wallet_call()).is_empty());
}

#[tokio::test]
async fn bad_input_is_named_and_never_reaches_the_wallet() {
    let mut office = Office::open().await;
    let path = office.path("/wallet/credits");
    for (body, fields) in [
        (json!({}), &["amountPaise", "reference"][..]),
        (json!({ "amountPaise": 700 }), &["reference"]),
        (json!({ "amountPaise": "700", "reference": "x" }), &["amountPaise"]),
        (json!({ "amountPaise": 700.5, "reference": "x" }), &["amountPaise"]),
        (json!({ "amountPaise": 0, "reference": "x" }), &["amountPaise"]),
        (json!({ "amountPaise": -700, "reference": "x" }), &["amountPaise"]),
        (json!({ "amountPaise": 100_000_000_001_i64, "reference": "x" }), &["amountPaise"]),
        (json!({ "amountPaise": 700, "reference": "x".repeat(129) }), &["reference"]),
        (json!({ "amountPaise": 700, "reference": "a\u{200b}b" }), &["reference"]),
        (json!([]), &[""]),
    ] {
        let refused = office.asha.post(&path, body.clone()).await;
        assert_eq!((refused.status, refused.invalid_fields()), (400, fields.to_vec()), "{body}");
    }
    assert!(office.portal.peers.asked(&office.wallet_call()).is_empty());
    let id = office.requested_credit().await;
    for (call, body) in [
        ("reject", json!({})),
        ("reject", json!({ "reason": " " })),
        ("reject", json!({ "reason": 7 })),
        ("reject", json!({ "reason": "x".repeat(501) })),
        ("approve", json!({ "reason": [] })),
    ] {
        let refused = office.ravi.post(&step(&id, call), body.clone()).await;
        assert_eq!((refused.status, refused.invalid_fields()), (400, vec!["reason"]), "{call}: {body}");
    }
    let extra = office.ravi.post(&step(&id, "approve"), json!({ "amountPaise": 1 })).await;
    assert_eq!(extra.invalid_fields(), ["amountPaise"], "nothing but the request is approved");
    for unknown in ["apr_01ARZ3NDEKTSV4RRFFQ69G5FAV", "x"] {
        for call in ["approve", "reject"] {
            let refused = office.ravi.post(&step(unknown, call), json!({ "reason": "x" })).await;
            assert_eq!((refused.status, refused.code()), (404, "approval_not_found"), "{unknown}");
        }
        assert_eq!(office.ravi.press(&step(unknown, "withdraw")).await.code(), "approval_not_found");
        assert_eq!(office.ravi.press(&step(unknown, "reset-link")).await.code(), "approval_not_found");
        assert_eq!(office.ravi.get(&format!("{APPROVALS}/{unknown}")).await.code(), "approval_not_found");
    }
    assert_eq!(office.asha.press(&step(&id, "reset-link")).await.code(), "approval_not_found", "no link");
    let refused = office.ravi.get(&format!("{APPROVALS}?state=open&limit=0&startingAfter=x&kind=y")).await;
    assert_eq!(refused.invalid_fields(), ["kind", "limit", "state"]);
}

#[tokio::test]
async fn persons_see_and_decide_what_their_role_is_for() {
    let mut office = Office::open().await;
    let (mut finance, _) = person(&office.portal, "finance@carrier.example", "finance").await;
    let (mut support, _) = person(&office.portal, "support@carrier.example", "support").await;
    let (credit, link) = (office.requested_credit().await, office.requested_link().await);
    for (caller, sees, other) in [(&mut finance, &credit, &link), (&mut support, &link, &credit)] {
        let listed = caller.get(APPROVALS).await;
        let ids: Vec<_> = listed.body["data"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
        assert_eq!(ids, [&json!(sees)]);
        assert_eq!(listed.body["data"][0].get("userEmail"), None, "a list names no user");
        let hidden = caller.get(&format!("{APPROVALS}/{other}")).await;
        assert_eq!((hidden.status, hidden.code()), (403, "permission_missing"));
        for call in ["approve", "reject"] {
            let refused = caller.post(&step(other, call), json!({ "reason": "x" })).await;
            assert_eq!((refused.status, refused.code()), (403, "permission_missing"), "{call}");
        }
    }
    office.portal.clock.advance(TimeDelta::milliseconds(1));
    let path = office.path("");
    for status in ["suspended", "inactive"] {
        office.asha.patch(&path, json!({ "status": status })).await;
    }
    let page = office.ravi.get(&format!("{APPROVALS}?limit=1&state=pending")).await;
    assert_eq!(
        (&page.body["hasMore"], &page.body["data"][0]["kind"]),
        (&json!(true), &json!("lift_suspension"))
    );
    assert_eq!(page.body["data"][0]["businessName"], "Corner Shop");
    let last = page.body["data"][0]["id"].as_str().unwrap();
    let rest = office.ravi.get(&format!("{APPROVALS}?startingAfter={last}")).await;
    assert_eq!(rest.body["data"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn open_requests_are_limited_per_person_until_one_ends() {
    let mut office = Office::open().await;
    let path = office.path("/wallet/credits");
    let body = |number: i64| json!({ "amountPaise": 700, "reference": format!("invoice-{number}") });
    let mut first = String::new();
    for number in 0..20 {
        first = id_of(&office.asha.post(&path, body(number)).await);
    }
    let refused = office.asha.post(&path, body(20)).await;
    assert_eq!((refused.status, refused.code()), (409, "too_many_approvals"));
    id_of(&office.asha.post(&path, body(0)).await);
    id_of(&office.ravi.post(&path, body(20)).await);
    office.asha.press(&step(&first, "withdraw")).await;
    id_of(&office.asha.post(&path, body(20)).await);
    office.portal.clock.advance(TimeDelta::hours(24));
    office.asha = log_in(&office.portal, "asha@carrier.example").await;
    id_of(&office.asha.post(&path, body(21)).await);
}

#[tokio::test]
async fn each_step_is_in_the_operators_log() {
    let mut office = Office::open().await;
    office.wallet_answers(700, "invoice-7");
    let (credit, link) = (office.requested_credit().await, office.requested_link().await);
    approve(&mut office.ravi, &credit).await;
    office.ravi.post(&step(&link, "reject"), json!({ "reason": "Nobody has called." })).await;
    let again = office.requested_link().await;
    office.asha.press(&step(&again, "withdraw")).await;
    let log = format!("/v1/operator/audit-log?businessId={}", office.business);
    let lines = office.portal.operator().get(&log).await.body["data"].clone();
    let written = |line: &Value| {
        assert_eq!(line["address"], "127.0.0.1");
        format!("{} {}", line["actor"]["name"].as_str().unwrap(), line["action"].as_str().unwrap())
    };
    let mut steps: Vec<String> = lines.as_array().unwrap().iter().map(written).collect();
    steps.sort_unstable();
    assert_eq!(
        steps,
        [
            "asha@carrier.example approval.requested",
            "asha@carrier.example approval.requested",
            "asha@carrier.example approval.requested",
            "asha@carrier.example approval.withdrawn",
            "ravi@carrier.example approval.approved",
            "ravi@carrier.example approval.rejected",
            "ravi@carrier.example wallet.credited",
        ]
    );
    assert!(!lines.to_string().contains("owner@shop.example"), "no address of a user");
    let line = |action| lines.as_array().unwrap().iter().find(|line| line["action"] == action).unwrap();
    let approved = line("approval.approved");
    assert_eq!(approved["target"], json!({ "type": "approval", "id": credit }));
    let details = json!({ "kind": "credit", "amountPaise": 700, "reference": "invoice-7" });
    assert_eq!(approved["details"], details);
    assert_eq!(line("approval.rejected")["details"]["reason"], "Nobody has called.");
    assert_eq!(line("wallet.credited")["details"], json!({ "amountPaise": 700, "reference": "invoice-7" }));
}

#[tokio::test]
async fn a_debit_above_the_limit_waits_for_another_person_and_is_made_once() {
    let mut office = Office::open().await;
    let call = format!("POST /wallet/internal/wallets/{}/debits", office.business);
    let mut taken = credited(700, "invoice-7 again");
    taken.as_object_mut().unwrap().remove("alreadyCredited");
    taken["reverses"] = json!(TRANSFER);
    taken["alreadyDebited"] = json!(false);
    office.portal.peers.answer(&call, 201, taken.clone());
    let check = format!("{call}/check");
    let path = office.path("/wallet/debits");
    let body = json!({
        "amountPaise": 700, "reference": "invoice-7 again", "reason": "Entered twice", "reverses": TRANSFER,
    });
    // An impossible one is refused as the call itself, and waits for nobody.
    let refusal = json!({ "code": "exceeds_transfer", "message": "Nothing of it is left." });
    office.portal.peers.answer(&check, 409, refusal);
    let refused = office.asha.post(&path, body.clone()).await;
    assert_eq!((refused.status, refused.code()), (409, "exceeds_transfer"));
    assert_eq!(office.ravi.get(APPROVALS).await.body["data"], json!([]));
    office.portal.peers.answer(&check, 200, Value::Null);
    let id = id_of(&office.asha.post(&path, body.clone()).await);
    assert!(office.portal.peers.asked(&call).is_empty());
    assert_eq!(office.portal.peers.asked(&check)[0].body, body);
    let approved = approve(&mut office.ravi, &id).await;
    assert_eq!((approved.status, &approved.body["state"]), (200, &json!("executed")), "{approved:?}");
    assert_eq!((&approved.body["kind"], &approved.body["parameters"]), (&json!("debit"), &body));
    let sent = &office.portal.peers.asked(&call)[0].body;
    assert_eq!(sent, &body);
    let log = office.portal.operator().get("/v1/operator/audit-log?action=wallet.debited").await.body;
    assert_eq!(log["data"][0]["details"]["debitReason"], "Entered twice");

    // Below the limit at once; a repeated one is not presented as new.
    let small = json!({ "amountPaise": 500, "reference": "small", "reason": "Entered twice" });
    assert_eq!(office.asha.post(&path, small.clone()).await.status, 201);
    taken["alreadyDebited"] = json!(true);
    office.portal.peers.answer(&call, 200, taken);
    let again = office.asha.post(&path, small).await;
    assert_eq!((again.status, &again.body["alreadyDebited"]), (200, &json!(true)));
    let bare = office.asha.post(&path, json!({ "amountPaise": 0, "reverses": "x" })).await;
    assert_eq!((bare.status, bare.invalid_fields().len()), (400, 4), "{bare:?}");
    let (mut viewer, _) = person(&office.portal, "viewer@carrier.example", "support").await;
    assert_eq!(viewer.post(&path, json!({})).await.status, 403);
}

#[tokio::test]
async fn an_account_does_not_approve_for_the_one_that_set_it_up() {
    let mut office = Office::open().await;
    let staff = "/v1/operator/staff";
    let invited = json!({ "email": "second@carrier.example", "name": "Asha again", "role": "administrator" });
    let invited = office.asha.post(staff, invited).await;
    let mut second = accept(&office.portal, &invited, "second@carrier.example").await;
    let by_asha = office.requested_credit().await;
    let refused = approve(&mut second, &by_asha).await;
    assert_eq!((refused.status, refused.code()), (403, "related_account"));
    let log = office.portal.operator().get("/v1/operator/audit-log?action=access.refused").await.body;
    assert_eq!(log["data"][0]["details"]["reason"], "related_account", "{log}");
    let path = office.path("/wallet/credits");
    let by_second = id_of(&second.post(&path, json!({ "amountPaise": 701, "reference": "x" })).await);
    assert_eq!(approve(&mut office.asha, &by_second).await.code(), "related_account");
    // Nor for their own token.
    let token = json!({ "name": "Ledger", "role": "finance" });
    let token = office.asha.post("/v1/operator/tokens", token).await.body;
    let mut robot = office.portal.stranger().with_bearer(token["token"].as_str().unwrap());
    let by_token = id_of(&robot.post(&path, json!({ "amountPaise": 702, "reference": "robot" })).await);
    assert_eq!(approve(&mut office.asha, &by_token).await.code(), "related_account");
    // Neither after a reset of the access of somebody else's account.
    office.ravi.press(&format!("{staff}/{}/password-link", office.ashas)).await;
    assert_eq!(approve(&mut office.ravi, &by_asha).await.code(), "related_account");

    office.portal.clock.advance(TimeDelta::days(7) + TimeDelta::seconds(1));
    let by_token = id_of(&robot.post(&path, json!({ "amountPaise": 702, "reference": "later" })).await);
    office.wallet_answers(700, "invoice-7");
    let mut asha = log_in(&office.portal, "asha@carrier.example").await;
    let by_asha = id_of(&asha.post(&path, credit(700)).await);
    assert_eq!(
        approve(&mut asha, &by_token).await.code(),
        "related_account",
        "they may still know the secret"
    );
    let mut ravi = log_in(&office.portal, "ravi@carrier.example").await;
    assert_eq!(approve(&mut ravi, &by_asha).await.status, 200);
}

#[tokio::test]
async fn administrators_choose_a_limit_up_to_the_setting() {
    let mut office = Office::open().await;
    let limit = "/v1/operator/approval-limit";
    let above = office.asha.put(limit, json!({ "creditsAbovePaise": 501 })).await;
    assert_eq!((above.status, above.invalid_fields()), (400, vec!["creditsAbovePaise"]));
    assert_eq!(office.asha.put(limit, json!({ "creditsAbovePaise": 99 })).await.status, 204);
    let session = office.ravi.get("/v1/operator/session").await.body;
    assert_eq!(session["approvals"]["creditsAbovePaise"], 99);
    let path = office.path("/wallet/credits");
    id_of(&office.ravi.post(&path, json!({ "amountPaise": 100, "reference": "x" })).await);
    let log = office.portal.operator().get("/v1/operator/audit-log?action=approval.limit_changed").await.body;
    assert_eq!(log["data"][0]["details"], json!({ "fromPaise": 500, "toPaise": 99 }));
    let (mut finance, _) = person(&office.portal, "finance@carrier.example", "finance").await;
    assert_eq!(finance.put(limit, json!({ "creditsAbovePaise": 1 })).await.status, 403);
    assert_eq!(office.asha.put(limit, json!({})).await.invalid_fields(), ["creditsAbovePaise"]);
}

#[tokio::test]
async fn a_limit_is_raised_or_removed_by_two() {
    let mut office = Office::open().await;
    let (mut finance, _) = person(&office.portal, "finance@carrier.example", "finance").await;
    let limit = "/v1/operator/approval-limit";
    assert_eq!(office.asha.put(limit, json!({ "creditsAbovePaise": 99 })).await.status, 204);
    for higher in [json!(300), Value::Null] {
        let before = office.asha.get("/v1/operator/session").await.body["approvals"].clone();
        let id = id_of(&office.asha.put(limit, json!({ "creditsAbovePaise": higher })).await);
        let session = office.asha.get("/v1/operator/session").await.body;
        assert_eq!(session["approvals"], before, "nothing is changed yet");
        assert_eq!(approve(&mut office.asha, &id).await.code(), "own_request");
        assert_eq!(approve(&mut finance, &id).await.code(), "permission_missing");
        let approved = approve(&mut office.ravi, &id).await;
        assert_eq!((approved.status, &approved.body["state"]), (200, &json!("executed")), "{approved:?}");
        assert_eq!(approved.body["parameters"], json!({ "creditsAbovePaise": higher }));
        assert_eq!(approved.body["businessId"], Value::Null);
        let session = office.asha.get("/v1/operator/session").await.body;
        let expected = higher.as_i64().unwrap_or(500);
        assert_eq!(session["approvals"]["creditsAbovePaise"], expected, "or the setting");
    }
    let log = office.portal.operator().get("/v1/operator/audit-log?action=approval.limit_changed").await.body;
    // The clock stands still, so that entries have no order.
    let removed = json!({ "fromPaise": 300, "toPaise": 500 });
    let removal = log["data"].as_array().unwrap().iter().find(|line| line["details"] == removed).unwrap();
    assert_eq!(removal["actor"]["name"], "ravi@carrier.example");
    assert_eq!(office.asha.put(limit, json!({ "creditsAbovePaise": 0 })).await.status, 204, "one lowers it");
}

//! A request to lift a suspension is about that very suspension.

use diesel_async::SimpleAsyncConnection;
use serde_json::{Value, json};

use crate::client::Client;
use crate::office::{APPROVALS, Office, approve, state};

/// Changes the status, and returns the id of the request if the change waits.
async fn set(office: &Office, by: &mut Client, status: &str) -> Option<String> {
    let answer = by.patch(&office.path(""), json!({ "status": status })).await;
    assert!(matches!(answer.status, 200 | 202), "{answer:?}");
    answer.body["state"].is_string().then(|| answer.body["id"].as_str().unwrap().to_owned())
}

async fn status(office: &Office) -> Value {
    office.portal.operator().get(&office.path("")).await.body["status"].clone()
}

#[tokio::test]
async fn a_request_ends_with_its_suspension_and_never_lifts_a_later_one() {
    let mut office = Office::open().await;
    let (mut asha, mut ravi) = (office.asha.clone(), office.ravi.clone());
    set(&office, &mut asha, "suspended").await;
    let of_asha = set(&office, &mut asha, "active").await.unwrap();
    let of_ravi = set(&office, &mut ravi, "inactive").await.unwrap();
    assert_eq!(set(&office, &mut asha, "active").await.as_ref(), Some(&of_asha), "the same suspension");
    assert_eq!(approve(&mut ravi, &of_asha).await.body["state"], "executed");
    let ended = office.portal.operator().get(&format!("{APPROVALS}/{of_ravi}")).await.body;
    assert_eq!((&ended["state"], &ended["outcome"]), (&json!("failed"), &json!("suspension_ended")));
    let log = "/v1/operator/audit-log?action=approval.failed";
    let entries = office.portal.operator().get(log).await.body["data"].clone();
    assert_eq!((&entries[0]["target"]["id"], entries.as_array().unwrap().len()), (&json!(of_ravi), 1));
    assert_eq!(entries[0]["details"]["reason"], "suspension_ended");

    set(&office, &mut ravi, "suspended").await;
    let refused = approve(&mut office.asha, &of_ravi).await;
    assert_eq!((refused.status, refused.code()), (409, "wrong_approval_state"), "{refused:?}");
    assert_eq!(status(&office).await, "suspended");
    let again = set(&office, &mut ravi, "inactive").await.unwrap();
    assert_ne!(again, of_ravi);
    assert_eq!(approve(&mut office.asha, &again).await.body["state"], "executed");
}

#[tokio::test]
async fn requests_are_listed_by_business_and_the_session_tells_what_needs_one() {
    let mut office = Office::open().await;
    let mut asha = office.asha.clone();
    set(&office, &mut asha, "suspended").await;
    let waiting = set(&office, &mut asha, "active").await.unwrap();
    let other = office.portal.owner("owner@other.example").await.business;
    for (business, found) in [(office.business.clone(), 1), (other, 0)] {
        let path = format!("{APPROVALS}?state=pending&businessId={business}");
        let listed = office.ravi.get(&path).await.body["data"].clone();
        assert_eq!(listed.as_array().unwrap().len(), found, "{listed}");
        assert!(found == 0 || listed[0]["id"] == json!(waiting), "{listed}");
    }
    let refused = office.ravi.get(&format!("{APPROVALS}?businessId=shop")).await;
    assert_eq!((refused.status, refused.invalid_fields()), (400, vec!["businessId"]));
    let session = office.ravi.get("/v1/operator/session").await.body;
    let expected = json!({ "creditsAbovePaise": 500, "creditsAboveMaxPaise": 500, "liftSuspension": true, "resetLinks": true });
    assert_eq!(session["approvals"], expected);
}

/// A request that is being decided is not ended with its suspension. The decision compares the suspensions.
#[tokio::test]
async fn a_request_from_before_a_suspension_lifts_nothing() {
    let mut office = Office::open().await;
    let mut asha = office.asha.clone();
    set(&office, &mut asha, "suspended").await;
    let waiting = set(&office, &mut asha, "active").await.unwrap();
    let suspended_again = format!(
        "UPDATE businesses SET status = 'active' WHERE id = '{0}';
        UPDATE businesses SET status = 'suspended' WHERE id = '{0}'",
        office.business
    );
    office.portal.connect().await.batch_execute(&suspended_again).await.unwrap();
    let refused = approve(&mut office.ravi, &waiting).await;
    assert_eq!((refused.status, refused.code()), (409, "suspension_ended"), "{refused:?}");
    assert_eq!(
        (status(&office).await, state(&office, &waiting).await),
        (json!("suspended"), json!("failed"))
    );
}

/// What else the request changes is not changed either, if the suspension has ended.
#[tokio::test]
async fn a_request_whose_business_is_not_suspended_changes_nothing() {
    let mut office = Office::open().await;
    let path = office.path("");
    let mut asha = office.asha.clone();
    set(&office, &mut asha, "suspended").await;
    let asked = asha.patch(&path, json!({ "status": "active", "liveAccess": "active" })).await;
    let id = asked.body["id"].as_str().unwrap();
    let lifted = format!("UPDATE businesses SET status = 'inactive' WHERE id = '{}'", office.business);
    office.portal.connect().await.batch_execute(&lifted).await.unwrap();
    assert_eq!(approve(&mut office.ravi, id).await.code(), "suspension_ended");
    let read = office.portal.operator().get(&path).await.body;
    assert_eq!((&read["status"], &read["liveAccess"]), (&json!("inactive"), &json!("inactive")));
}

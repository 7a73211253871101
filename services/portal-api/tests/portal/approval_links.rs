//! Password reset links of the operator: the approval, the mails, and their end with the person who issued them.

use serde_json::json;

use crate::mail_folder::MailFolder;
use crate::office::{APPROVALS, BUSINESSES, ON, Office, approve, step};
use crate::portal::Portal;
use crate::staff::{STAFF, person};

const CONFIRM: &str = "/v1/portal/password-resets/confirm";

#[tokio::test]
async fn a_reset_link_is_created_when_the_requester_fetches_it_and_only_once() {
    let mut office = Office::open().await;
    let id = office.requested_link().await;
    let early = office.asha.press(&step(&id, "reset-link")).await;
    assert_eq!((early.status, early.code()), (409, "wrong_approval_state"));
    assert_eq!(early.body["state"], "pending");
    let read = office.ravi.get(&format!("{APPROVALS}/{id}")).await;
    assert_eq!(
        (&read.body["userEmail"], &read.body["mayDecide"]),
        (&json!("owner@shop.example"), &json!(true))
    );
    let approved = approve(&mut office.ravi, &id).await;
    assert_eq!((approved.status, &approved.body["state"]), (200, &json!("approved")));
    assert!(!approved.body.to_string().contains("token="), "{approved:?}");
    assert_eq!(office.ravi.press(&step(&id, "reset-link")).await.code(), "not_requester");
    let fetched = office.asha.press(&step(&id, "reset-link")).await;
    assert_eq!(fetched.status, 201, "{fetched:?}");
    let again = office.asha.press(&step(&id, "reset-link")).await;
    assert_eq!((again.status, &again.body["state"]), (409, &json!("executed")));
    let token = fetched.body["url"].as_str().unwrap().split_once("#token=").unwrap().1.to_owned();
    let new = json!({ "token": token, "password": "battery staple" });
    assert_eq!(office.portal.stranger().post(CONFIRM, new).await.status, 204);
    let path = office.path("/password-resets");
    let nobody = office.asha.post(&path, json!({ "email": "nobody@shop.example" })).await;
    assert_eq!((nobody.status, nobody.code()), (404, "user_not_found"));
}

/// With and without approvals: a link that nobody of the business asked for must be noticed.
#[tokio::test]
async fn the_user_and_the_owners_learn_of_a_link_by_mail() {
    let folder = MailFolder::new();
    let mails = [("WAYBILL_MAIL__TRANSPORT", "folder"), ("WAYBILL_MAIL__FOLDER", folder.path())];
    let portal = Portal::with(&[ON.as_slice(), &mails].concat()).await;
    let mut office = Office::at(portal).await;
    let id = office.requested_link().await;
    approve(&mut office.ravi, &id).await;
    assert_eq!(office.asha.press(&step(&id, "reset-link")).await.status, 201);
    let mail = folder.wait_for(1).await.remove(0);
    assert_eq!(
        (mail.to.as_str(), mail.subject.as_str()),
        ("owner@shop.example", "A password reset link was issued")
    );
    assert!(mail.text.contains("for owner@shop.example") && !mail.text.contains("token="), "{}", mail.text);

    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.member(&mut owner, "dev@shop.example", "developer").await;
    let before = folder.wait_for(1).await.len();
    let path = format!("{BUSINESSES}/{}/password-resets", owner.business);
    let issued = portal.operator().post(&path, json!({ "email": "dev@shop.example" })).await;
    assert_eq!(issued.status, 201, "{issued:?}");
    let mails = folder.wait_for(before + 2).await;
    let mut recipients: Vec<_> = mails[before..].iter().map(|mail| mail.to.as_str()).collect();
    recipients.sort_unstable();
    assert_eq!(recipients, ["dev@shop.example", "owner@shop.example"]);
}

#[tokio::test]
async fn links_for_users_end_with_the_person_who_issued_them() {
    let portal = Portal::start().await;
    let business = portal.owner("owner@shop.example").await.business;
    let path = format!("{BUSINESSES}/{business}/password-resets");
    for leaves in ["removed", "finance", "administrator"] {
        let (mut asha, id) = person(&portal, &format!("{leaves}@carrier.example"), "support").await;
        let issued = asha.post(&path, json!({ "email": "owner@shop.example" })).await;
        let token = issued.body["url"].as_str().unwrap().split_once("#token=").unwrap().1.to_owned();
        let of_asha = format!("{STAFF}/{id}");
        match leaves {
            "removed" => portal.operator().delete(&of_asha).await,
            role => portal.operator().patch(&of_asha, json!({ "role": role })).await,
        };
        let look_up = json!({ "token": token });
        let found = portal.stranger().post("/v1/portal/password-resets/look-up", look_up).await;
        assert_eq!(found.status, if leaves == "administrator" { 204 } else { 422 }, "{leaves}");
    }
}

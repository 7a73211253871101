//! Mails: recipients, transports, retries, and what stays in the database.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use chrono::TimeDelta;
use diesel::sql_types::{BigInt, Text};
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use domain::{EndpointId, Paise};
use events::{Body, EndpointDisabled, EndpointFailing, WalletLowBalance, WalletMoneyTakenBack};
use serde_json::{Value, json};
use settings::Secret;
use test_kit::{metrics, until};

use crate::mail_folder::{self, Mail, MailFolder};
use crate::portal::Portal;

#[derive(diesel::QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

async fn waiting(portal: &Portal) -> i64 {
    count(portal, "mails").await
}

/// Without the mails of [`wake_sender`].
async fn waiting_resets(portal: &Portal) -> i64 {
    count(portal, "mails WHERE kind = 'password_reset'").await
}

pub(crate) async fn count(portal: &Portal, from: &str) -> i64 {
    let count = diesel::sql_query(format!("SELECT count(*) AS count FROM {from}"));
    let count: Count = count.get_result(&mut portal.connect().await).await.unwrap();
    count.count
}

fn recipients(mails: &[Mail]) -> Vec<&str> {
    let mut recipients: Vec<_> = mails.iter().map(|mail| mail.to.as_str()).collect();
    recipients.sort_unstable();
    recipients
}

#[tokio::test]
async fn an_invitation_is_mailed_and_owners_are_informed_of_a_new_owner() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    assert_eq!(portal.stranger().get("/v1/portal/config").await.body["mail"]["enabled"], true);
    let mut owner = portal.owner("owner@shop.example").await;
    let token = portal.invite(&mut owner, "partner@shop.example", "owner").await;
    let mail = folder.wait_for(1).await.remove(0);
    assert_eq!((mail.to.as_str(), mail.token()), ("partner@shop.example", token.clone()));
    assert!(mail.subject.contains("Corner Shop invites you"), "{}", mail.subject);
    let accept = json!({ "token": token, "password": "battery staple" });
    assert_eq!(portal.stranger().post("/v1/portal/invitations/accept", accept).await.status, 201);
    let mails = folder.wait_for(2).await;
    assert_eq!(
        (mails[1].to.as_str(), mails[1].subject.as_str()),
        ("owner@shop.example", "Your business has a new owner")
    );
    until("nothing stays of what was sent", async || waiting(&portal).await == 0).await;

    portal.member(&mut owner, "viewer@shop.example", "viewer").await;
    let id = owner.client.get("/v1/portal/users").await.body["data"][2]["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/portal/users/{id}");
    assert_eq!(owner.client.patch(&path, json!({ "role": "owner" })).await.status, 200);
    let mails = folder.wait_for(5).await;
    assert_eq!(recipients(&mails[3..]), ["owner@shop.example", "partner@shop.example"]);
}

#[tokio::test]
async fn a_changed_password_is_reported_by_mail() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut owner = portal.owner("owner@shop.example").await.client;
    let change = json!({ "currentPassword": "correct horse", "newPassword": "battery staple" });
    assert_eq!(owner.put("/v1/portal/password", change).await.status, 204);
    assert_eq!(folder.wait_for(1).await[0].subject, "Your Waybill password was changed");
}

#[tokio::test]
async fn owners_are_informed_of_a_suspension_and_of_its_end() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.owner("owner@other.example").await;
    portal.member(&mut owner, "viewer@shop.example", "viewer").await;
    let invited = folder.wait_for(1).await.len();
    let path = format!("/v1/operator/businesses/{}", owner.business);
    for (change, mails) in [
        (json!({ "status": "active" }), 0),
        (json!({ "status": "suspended", "reason": "Two cheques <bounced>" }), 1),
        (json!({ "status": "suspended", "liveAccess": "active" }), 2),
        (json!({ "status": "inactive", "liveAccess": "active" }), 3),
        (json!({ "status": "active" }), 3),
    ] {
        assert_eq!(portal.operator().patch(&path, change.clone()).await.status, 200);
        assert_eq!(folder.wait_for(invited + mails).await.len(), invited + mails, "{change}");
        portal.clock.advance(chrono::TimeDelta::milliseconds(1));
    }
    until("nothing waits", async || waiting(&portal).await == 0).await;
    let mails = folder.mails().split_off(invited);
    assert_eq!(recipients(&mails), ["owner@shop.example"; 3]);
    assert_eq!(mails[0].subject, "Your Waybill account was suspended");
    assert!(mails[0].text.contains("New live orders are refused"), "{}", mails[0].text);
    assert!(mails[0].text.contains("Its reason: Two cheques <bounced>"), "{}", mails[0].text);
    assert_eq!(mails[1].subject, "Your Waybill account has live access");
    assert_eq!(mails[2].subject, "The suspension of your Waybill account was lifted");
    let log = owner.client.get("/v1/portal/audit-log?action=business.changed").await.body;
    let reasons: Vec<_> =
        log["data"].as_array().unwrap().iter().map(|entry| &entry["details"]["reason"]).collect();
    let none = Value::Null;
    assert_eq!(reasons, [&none, &none, &none, &json!("Two cheques <bounced>")]);
    let refused = portal.operator().patch(&path, json!({ "status": "active", "reason": "x" })).await;
    assert_eq!((refused.status, refused.invalid_fields()), (400, vec!["reason"]));
}

#[tokio::test]
async fn warnings_reach_the_roles_that_they_concern_once() {
    let folder = MailFolder::new();
    let portal = Portal::connected_with(&folder.settings()).await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.owner("owner@other.example").await;
    for (email, role) in [
        ("dev@shop.example", "developer"),
        ("viewer@shop.example", "viewer"),
        ("money@shop.example", "finance"),
        ("help@shop.example", "support"),
    ] {
        portal.member(&mut owner, email, role).await;
    }
    let invited = folder.wait_for(4).await.len();
    let endpoint_id = EndpointId::generate(&portal.clock, &portal.entropy);
    let low = WalletLowBalance { balance_paise: Paise::new(12_345), threshold_paise: Paise::new(50_000) };
    let disabled = EndpointDisabled { endpoint_id, reason: "every attempt failed for too long".to_owned() };
    let warnings = [
        Body::WalletLowBalance(low),
        Body::WalletMoneyTakenBack(WalletMoneyTakenBack {
            amount_paise: Paise::new(90_000),
            balance_paise: Paise::ZERO,
            owed_paise: Paise::new(20_000),
            reference: "cheque 7 again".to_owned(),
            order_reference: None,
            by_payment_provider: false,
        }),
        Body::WalletMoneyTakenBack(WalletMoneyTakenBack {
            amount_paise: Paise::new(3_000),
            balance_paise: Paise::ZERO,
            owed_paise: Paise::new(30_000),
            reference: "attempt-2-ord_01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned(),
            order_reference: Some("shop-1".to_owned()),
            by_payment_provider: false,
        }),
        Body::EndpointFailing(EndpointFailing { endpoint_id, percent: 80 }),
        Body::EndpointDisabled(disabled),
    ];
    let mut expected = invited;
    let words = [
        "₹123.45",
        "you owe ₹200.00",
        "“shop-1” began. Its fee of ₹30.00",
        "80%",
        "every attempt failed for too long",
    ];
    for (warning, words) in warnings.into_iter().zip(words) {
        let envelope = portal.envelope(&owner.business, warning);
        // Twice, as after a lost acknowledgement.
        portal.publish(&[envelope.clone(), envelope]).await;
        let told = match words {
            "₹123.45" => &["dev@shop.example", "money@shop.example", "owner@shop.example"][..],
            "you owe ₹200.00" | "“shop-1” began. Its fee of ₹30.00" => {
                &["money@shop.example", "owner@shop.example"]
            }
            _ => &["dev@shop.example", "owner@shop.example"],
        };
        expected += told.len();
        let mails = folder.wait_for(expected).await;
        assert_eq!(recipients(&mails[expected - told.len()..]), told);
        assert!(mails[expected - 1].text.contains(words), "{words}: {}", mails[expected - 1].text);
        // A fee that is owed was not taken.
        let subject = &mails[expected - 1].subject;
        assert_eq!(subject.contains("was taken"), words == "you owe ₹200.00", "{subject}");
    }
    // What comes behind the repeated ones: had they been mailed again, there were more.
    let last =
        portal.envelope(&owner.business, Body::EndpointFailing(EndpointFailing { endpoint_id, percent: 50 }));
    portal.publish(&[last]).await;
    assert_eq!(folder.wait_for(expected + 2).await.len(), expected + 2);
}

/// A mail server that refuses so many mails before it takes one.
struct MailServer {
    port: u16,
    taken: Arc<Mutex<Vec<String>>>,
}

impl MailServer {
    fn start(answers: Vec<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let taken = Arc::new(Mutex::new(Vec::new()));
        let kept = taken.clone();
        std::thread::spawn(move || {
            let answers = Mutex::new(answers.into_iter());
            // At the same time: the sender keeps connections, and an unserved one delays its mail by minutes.
            std::thread::scope(|scope| {
                for stream in listener.incoming() {
                    // Clients may disconnect at any time.
                    scope.spawn(|| serve(stream.unwrap(), &answers, &kept));
                }
            });
        });
        Self { port, taken }
    }

    async fn portal(&self) -> Portal {
        Portal::with(&[
            ("WAYBILL_LIMITS__PER_ADDRESS", "false"),
            ("WAYBILL_MAIL__TRANSPORT", "smtp"),
            ("WAYBILL_MAIL__HOST", "127.0.0.1"),
            ("WAYBILL_MAIL__PORT", &self.port.to_string()),
            ("WAYBILL_MAIL__ENCRYPTION", "none"),
            ("WAYBILL_MAIL__FROM", "Shipping <no-reply@ship.example>"),
        ])
        .await
    }
}

fn serve(
    mut stream: TcpStream,
    answers: &Mutex<impl Iterator<Item = &'static str>>,
    taken: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    stream.write_all(b"220 test\r\n")?;
    while let Some(line) = lines.next() {
        let line = line?;
        if line != "DATA" {
            stream.write_all(if line == "QUIT" { b"221 bye\r\n" } else { b"250 ok\r\n" })?;
            continue;
        }
        stream.write_all(b"354 go on\r\n")?;
        let mut mail = String::new();
        for line in lines.by_ref() {
            let line = line?;
            if line == "." {
                break;
            }
            mail.push_str(&line);
            mail.push_str("\r\n");
        }
        // The first mail of an account is not under test.
        if mail.contains(mail_folder::WELCOME) {
            stream.write_all(b"250 taken\r\n")?;
            continue;
        }
        let answer = answers.lock().unwrap().next().unwrap_or("250 taken");
        if answer.starts_with("250") {
            taken.lock().unwrap().push(mail);
        }
        stream.write_all(format!("{answer}\r\n").as_bytes())?;
    }
    Ok(())
}

/// Queues another mail, which the server takes. Without it, the sender looks for retries every five seconds.
async fn wake_sender(portal: &Portal) {
    portal.owner(&format!("{}@shop.example", portal.entropy.below(u32::MAX))).await;
}

#[tokio::test]
async fn a_mail_that_is_refused_for_now_is_tried_again() {
    let server = MailServer::start(vec!["451 later", "250 taken"]);
    let portal = server.portal().await;
    portal.owner("owner@shop.example").await;
    portal.stranger().post("/v1/portal/password-resets", json!({ "email": "owner@shop.example" })).await;
    until("the mail is put off, and sent", async || {
        // Whoever holds it at this moment has it due later, too.
        portal.clock.advance(TimeDelta::seconds(10));
        wake_sender(&portal).await;
        !server.taken.lock().unwrap().is_empty()
    })
    .await;
    let mail = mail_folder::read(&server.taken.lock().unwrap()[0]);
    assert!(mail.to.contains("owner@shop.example") && mail.token().len() == 43, "{mail:?}");
    assert!(server.taken.lock().unwrap()[0].contains("no-reply@ship.example"));
    until("nothing stays of it", async || waiting_resets(&portal).await == 0).await;
}

const REFUSE_TO_RECORD_THE_FIRST: &str = "
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''refused''; END';
    CREATE TRIGGER refuse BEFORE DELETE ON mails FOR EACH ROW
        WHEN (old.kind = 'password_reset' AND old.recipient = 'first@shop.example') EXECUTE FUNCTION refuse();";

#[tokio::test]
async fn a_mail_that_cannot_be_recorded_has_no_other_one_sent_again() {
    let server = MailServer::start(vec!["451 later", "451 later"]);
    let portal = server.portal().await;
    for email in ["first@shop.example", "second@shop.example"] {
        portal.owner(email).await;
        portal.stranger().post("/v1/portal/password-resets", json!({ "email": email })).await;
    }
    // Longer than the first delay, and shorter than the lease.
    let put_off =
        "mails WHERE kind = 'password_reset' AND attempts = 1 AND due_at < created_at + interval '30 s'";
    until("both are put off", async || count(&portal, put_off).await == 2).await;
    portal.connect().await.batch_execute(REFUSE_TO_RECORD_THE_FIRST).await.unwrap();
    portal.clock.advance(TimeDelta::seconds(10));
    wake_sender(&portal).await;
    let second = "mails WHERE kind = 'password_reset' AND recipient = 'second@shop.example'";
    until("the other one is recorded", async || count(&portal, second).await == 0).await;
    let taken = server.taken.lock().unwrap();
    assert_eq!(taken.iter().filter(|mail| mail.contains("second@shop.example")).count(), 1);
}

#[derive(diesel::QueryableByName)]
struct Waiting {
    #[diesel(sql_type = Text)]
    content: String,
}

#[tokio::test]
async fn who_reads_the_queue_learns_no_link() {
    let server = MailServer::start(vec!["451 later", "250 taken"]);
    let portal = server.portal().await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.approve(&owner.business).await;
    let invitation = json!({ "email": "guest@shop.example", "role": "viewer" });
    assert_eq!(owner.client.post("/v1/portal/invitations", invitation).await.status, 201);
    let mut conn = portal.connect().await;
    let read = "SELECT row_to_json(mails)::text AS content FROM mails WHERE kind = 'invitation'";
    let waiting: Waiting = diesel::sql_query(read).get_result(&mut conn).await.unwrap();
    until("the mail is sent", async || {
        portal.clock.advance(TimeDelta::seconds(10));
        wake_sender(&portal).await;
        !server.taken.lock().unwrap().is_empty()
    })
    .await;
    let token = mail_folder::read(&server.taken.lock().unwrap()[0]).token();
    assert!(
        waiting.content.contains("guest@shop.example") && !waiting.content.contains(&token),
        "{}",
        waiting.content
    );
}

#[tokio::test]
async fn a_permanently_rejected_mail_fails() {
    let server = MailServer::start(vec!["550 nobody here"]);
    let portal = server.portal().await;
    portal.owner("owner@shop.example").await;
    for _ in 0..2 {
        portal.stranger().post("/v1/portal/password-resets", json!({ "email": "owner@shop.example" })).await;
    }
    until("one is taken, and nothing waits", async || {
        server.taken.lock().unwrap().len() == 1 && waiting(&portal).await == 0
    })
    .await;
}

#[tokio::test]
async fn a_mail_that_expires_between_retries_counts_as_failed() {
    let server = MailServer::start(vec!["451 later"; 50]);
    let portal = server.portal().await;
    portal.owner("owner@shop.example").await;
    portal.stranger().post("/v1/portal/password-resets", json!({ "email": "owner@shop.example" })).await;
    until("the mail waits", async || waiting_resets(&portal).await == 1).await;
    until("its link has expired", async || {
        portal.clock.advance(TimeDelta::minutes(10));
        wake_sender(&portal).await;
        waiting_resets(&portal).await == 0
    })
    .await;
    let metrics = metrics("portal-api").render();
    assert!(
        metrics.contains(r#"mails_failed_total{service="portal-api",kind="password_reset"} 1"#),
        "{metrics}"
    );
    assert!(server.taken.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_waiting_link_survives_a_change_of_the_internal_token() {
    let (refusing, server) = (MailServer::start(vec!["451 later"; 50]), MailServer::start(vec![]));
    let portal = refusing.portal().await;
    portal.owner("owner@shop.example").await;
    portal.stranger().post("/v1/portal/password-resets", json!({ "email": "owner@shop.example" })).await;
    let mut settings = portal.settings.clone();
    settings.mail.port = Some(server.port);
    let former = std::mem::replace(&mut settings.internal.token, Secret::new("the-next-of-portal-api"));
    settings.internal.callers.portal_api = Some(former);
    let next = portal.with_settings(settings);
    until("the next instance sends it", async || {
        next.clock.advance(TimeDelta::seconds(10));
        wake_sender(&next).await;
        !server.taken.lock().unwrap().is_empty()
    })
    .await;
    assert_eq!(mail_folder::read(&server.taken.lock().unwrap()[0]).token().len(), 43);
}

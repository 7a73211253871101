//! The operator's staff: accounts, links, roles, removal, and the command that creates the first administrator.

use chrono::TimeDelta;
use diesel::sql_types::BigInt;
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use serde_json::{Value, json};
use test_kit::until;

use crate::client::{Answer, Client};
use crate::portal::{OPERATOR_TOKEN, Portal};

pub(crate) const STAFF: &str = "/v1/operator/staff";
pub(crate) const SESSION: &str = "/v1/operator/session";
const BUSINESSES: &str = "/v1/operator/businesses";
const LOOK_UP: &str = "/v1/operator/password-links/look-up";
const USE: &str = "/v1/operator/password-links/use";
const PASSWORD: &str = "battery staple";

fn new(email: &str, role: &str) -> Value {
    json!({ "email": email, "name": "Asha Rao", "role": role })
}

fn log_in_body(email: &str, password: &str) -> Value {
    json!({ "email": email, "password": password })
}

/// The token of a link.
fn token_of(answer: &Answer) -> String {
    let url = answer.body["url"].as_str().unwrap_or_else(|| panic!("{answer:?}"));
    url.split_once("/operator/password#token=").unwrap().1.to_owned()
}

async fn set_password(portal: &Portal, token: &str) -> Answer {
    portal.stranger().post(USE, json!({ "token": token, "password": PASSWORD })).await
}

pub(crate) async fn log_in(portal: &Portal, email: &str) -> Client {
    let mut console = portal.stranger();
    let opened = console.post(SESSION, log_in_body(email, PASSWORD)).await;
    assert_eq!(opened.status, 200, "{opened:?}");
    console
}

/// A logged-in person of the staff, and their id.
pub(crate) async fn person(portal: &Portal, email: &str, role: &str) -> (Client, String) {
    // Persons must not share their creation time.
    portal.clock.advance(TimeDelta::milliseconds(1));
    let invited = portal.operator().post(STAFF, new(email, role)).await;
    assert_eq!(invited.status, 201, "{invited:?}");
    (accept(portal, &invited, email).await, invited.body["id"].as_str().unwrap().to_owned())
}

/// Uses the link of an invitation, and logs in.
pub(crate) async fn accept(portal: &Portal, invited: &Answer, email: &str) -> Client {
    // The browser that sets the password is known from then on.
    let mut console = portal.stranger();
    let used = json!({ "token": token_of(invited), "password": PASSWORD });
    assert_eq!(console.post(USE, used).await.status, 204);
    let opened = console.post(SESSION, log_in_body(email, PASSWORD)).await;
    assert_eq!(opened.status, 200, "{opened:?}");
    console
}

#[tokio::test]
async fn a_person_sets_a_password_with_the_link_and_logs_in() {
    let portal = Portal::start().await;
    let invited = portal.operator().post(STAFF, new("Asha@Carrier.example", "support")).await;
    assert_eq!(invited.status, 201, "{invited:?}");
    assert_eq!((&invited.body["status"], &invited.body["role"]), (&json!("invited"), &json!("support")));
    let token = token_of(&invited);
    let unset = portal.stranger().post(SESSION, log_in_body("asha@carrier.example", PASSWORD)).await;
    assert_eq!((unset.status, unset.code()), (401, "invalid_credentials"), "no password yet");

    let found = portal.stranger().post(LOOK_UP, json!({ "token": token })).await;
    let expected = json!({ "name": "Asha Rao", "email": "Asha@Carrier.example", "role": "support" });
    assert_eq!((found.status, &found.body), (200, &expected));
    let like = json!({ "token": token, "password": "asha@carrier.example" });
    assert_eq!(portal.stranger().post(USE, like).await.invalid_fields(), ["password"]);
    assert_eq!(set_password(&portal, &token).await.status, 204);
    let again = set_password(&portal, &token).await;
    assert_eq!((again.status, again.code()), (422, "password_link_invalid"), "it works once");

    let mut console = portal.stranger();
    let opened = console.post(SESSION, log_in_body("ASHA@carrier.example", PASSWORD)).await;
    assert_eq!(opened.status, 200, "{opened:?}");
    assert!(opened.header("set-cookie").contains("operator_session="), "{opened:?}");
    let session = console.get(SESSION).await.body;
    assert_eq!((&session["type"], &session["name"]), (&json!("person"), &json!("Asha@Carrier.example")));
    assert_eq!((&session["id"], &session["role"]), (&invited.body["id"], &json!("support")));
    let permissions = session["permissions"].as_array().unwrap();
    assert!(permissions.contains(&json!("read_orders")) && !permissions.contains(&json!("credit_wallets")));
    assert_eq!(console.get(BUSINESSES).await.status, 200);
    assert_eq!(console.get("/v1/portal/status").await.status, 401, "staff are nobody's users");
    let listed = portal.operator().get(STAFF).await.body["data"][0].clone();
    assert_eq!((&listed["status"], &listed["you"]), (&json!("active"), &json!(false)));
    assert_eq!(listed["lastSeenAt"], json!("2027-01-15T08:00:00Z"));

    assert_eq!(console.delete(SESSION).await.status, 204);
    assert_eq!(console.get(BUSINESSES).await.status, 401);
}

#[tokio::test]
async fn all_wrong_fields_are_named_and_a_second_account_is_refused() {
    let portal = Portal::start().await;
    let mut operator = portal.operator();
    for (body, fields) in [
        (json!({}), &["email", "name", "role"][..]),
        (json!({ "email": "x", "name": " ", "role": "owner" }), &["email", "name", "role"]),
        (json!({ "email": 7, "name": [], "role": null }), &["email", "name", "role"]),
        (json!({ "email": "a@b.co", "name": "x".repeat(121), "role": "viewer" }), &["name"]),
        (json!({ "email": "a@b.co", "name": "A", "role": "viewer", "admin": true }), &["admin"]),
        (json!([]), &[""]),
    ] {
        let refused = operator.post(STAFF, body.clone()).await;
        assert_eq!((refused.status, refused.invalid_fields()), (400, fields.to_vec()), "{body}");
    }
    assert_eq!(operator.post(STAFF, new("asha@carrier.example", "viewer")).await.status, 201);
    let taken = operator.post(STAFF, new("ASHA@carrier.example", "support")).await;
    assert_eq!((taken.status, taken.code()), (409, "email_taken"));
    let id = operator.get(STAFF).await.body["data"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("{STAFF}/{id}");
    assert_eq!(operator.patch(&path, json!({ "role": "chief" })).await.invalid_fields(), ["role"]);
    assert_eq!(
        operator.patch(&path, json!({ "role": "viewer", "name": "x" })).await.invalid_fields(),
        ["name"]
    );
    for unknown in ["stf_01ARZ3NDEKTSV4RRFFQ69G5FAV", "x", "usr_01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
        let path = format!("{STAFF}/{unknown}");
        let refused = operator.patch(&path, json!({ "role": "viewer" })).await;
        assert_eq!((refused.status, refused.code()), (404, "staff_not_found"), "{unknown}");
        assert_eq!(operator.delete(&path).await.code(), "staff_not_found");
        assert_eq!(operator.press(&format!("{path}/password-link")).await.code(), "staff_not_found");
    }
    for body in [json!({ "token": "x", "email": "a@b.co" }), json!({ "email": "a@b.co" }), json!({})] {
        assert_eq!(portal.stranger().post(SESSION, body.clone()).await.status, 400, "{body}");
    }
}

#[tokio::test]
async fn who_is_removed_is_out_at_once() {
    let portal = Portal::start().await;
    let another = portal.another();
    let (mut console, id) = person(&portal, "asha@carrier.example", "support").await;
    let mut elsewhere = console.clone().at(another.public);
    assert_eq!(elsewhere.get(BUSINESSES).await.status, 200);
    let link = portal.operator().press(&format!("{STAFF}/{id}/password-link")).await;
    assert_eq!(portal.operator().delete(&format!("{STAFF}/{id}")).await.status, 204);
    for client in [&mut console, &mut elsewhere] {
        assert_eq!(client.get(BUSINESSES).await.status, 401);
        assert_eq!(client.get(SESSION).await.status, 401);
    }
    assert_eq!(set_password(&portal, &token_of(&link)).await.status, 422);
    let refused = portal.stranger().post(SESSION, log_in_body("asha@carrier.example", PASSWORD)).await;
    assert_eq!(refused.status, 401);
    assert_eq!(portal.operator().get(STAFF).await.body["data"], json!([]));
    person(&portal, "asha@carrier.example", "viewer").await;
}

#[tokio::test]
async fn a_role_applies_from_the_next_call_on() {
    let portal = Portal::start().await;
    let (mut console, id) = person(&portal, "asha@carrier.example", "support").await;
    portal.peers.answer("GET /order-api/internal/orders", 200, json!([]));
    assert_eq!(console.get("/v1/operator/orders?code=x").await.status, 200);
    let changed = portal.operator().patch(&format!("{STAFF}/{id}"), json!({ "role": "viewer" })).await;
    assert_eq!((changed.status, &changed.body["role"]), (200, &json!("viewer")));
    let refused = console.get("/v1/operator/orders?code=x").await;
    assert_eq!((refused.status, refused.code()), (403, "permission_missing"));
    assert_eq!(refused.body["requiredPermission"], "read_orders");
    assert!(refused.body["message"].as_str().unwrap().contains("read_orders"), "{refused:?}");
    assert_eq!(console.get(SESSION).await.body["role"], "viewer");
}

#[tokio::test]
async fn the_last_administrator_stays() {
    let portal = Portal::start().await;
    let (mut asha, id) = person(&portal, "asha@carrier.example", "administrator").await;
    portal.operator().post(STAFF, new("invited@carrier.example", "administrator")).await;
    let path = format!("{STAFF}/{id}");
    for mut caller in [asha.clone(), portal.operator()] {
        let removed = caller.delete(&path).await;
        assert_eq!(
            (removed.status, removed.code()),
            (409, "last_administrator"),
            "the other has no password"
        );
        let demoted = caller.patch(&path, json!({ "role": "finance" })).await;
        assert_eq!((demoted.status, demoted.code()), (409, "last_administrator"));
    }
    let (mut ravi, ravis) = person(&portal, "ravi@carrier.example", "administrator").await;
    assert_eq!(ravi.patch(&path, json!({ "role": "finance" })).await.status, 200);
    assert_eq!(asha.get(STAFF).await.status, 403);
    assert_eq!(ravi.delete(&format!("{STAFF}/{ravis}")).await.code(), "last_administrator");
}

#[derive(diesel::QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

/// Both calls wait for the lock of the staff, so that both have passed the guard.
#[tokio::test]
async fn two_administrators_who_demote_each_other_leave_one() {
    let portal = Portal::start().await;
    let (mut asha, ashas) = person(&portal, "asha@carrier.example", "administrator").await;
    let (mut ravi, ravis) = person(&portal, "ravi@carrier.example", "administrator").await;
    let mut holding = portal.connect().await;
    holding.batch_execute("BEGIN; SELECT pg_advisory_xact_lock(x'7374616666'::bigint)").await.unwrap();
    let release = async {
        let mut looking = portal.connect().await;
        until("both wait for the lock", async || {
            let waiting = "SELECT count(*) AS count FROM pg_locks
                WHERE locktype = 'advisory' AND NOT granted
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
            let waiting: Count = diesel::sql_query(waiting).get_result(&mut looking).await.unwrap();
            waiting.count == 2
        })
        .await;
        holding.batch_execute("COMMIT").await.unwrap();
    };
    let (of_ravi, of_asha) = (format!("{STAFF}/{ravis}"), format!("{STAFF}/{ashas}"));
    let demote = json!({ "role": "viewer" });
    let (one, other, ()) = tokio::join!(asha.patch(&of_ravi, demote.clone()), ravi.delete(&of_asha), release);
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert!(matches!(statuses, [200 | 204, 403]), "{one:?} {other:?}");
    let listed = portal.operator().get(STAFF).await.body["data"].clone();
    let administrators = listed.as_array().unwrap().iter().filter(|one| one["role"] == "administrator");
    assert_eq!(administrators.count(), 1, "{listed}");
}

#[tokio::test]
async fn links_expire_are_replaced_and_end_with_the_administrator_who_made_them() {
    let portal = Portal::start().await;
    let (mut asha, id) = person(&portal, "asha@carrier.example", "administrator").await;
    person(&portal, "ravi@carrier.example", "administrator").await;
    let is_dead = async |token: &str| {
        let found = portal.stranger().post(LOOK_UP, json!({ "token": token })).await;
        assert_eq!(found.status, set_password(&portal, token).await.status);
        found.code() == "password_link_invalid"
    };
    let first = asha.post(STAFF, new("dev@carrier.example", "viewer")).await;
    let dev = format!("{STAFF}/{}/password-link", first.body["id"].as_str().unwrap());
    let second = asha.press(&dev).await;
    assert!(is_dead(&token_of(&first)).await, "replaced");
    portal.clock.advance(TimeDelta::days(7));
    assert!(is_dead(&token_of(&second)).await, "expired");
    let mut asha = log_in(&portal, "asha@carrier.example").await;
    let third = asha.press(&dev).await;
    assert_eq!(
        portal.operator().patch(&format!("{STAFF}/{id}"), json!({ "role": "viewer" })).await.status,
        200
    );
    assert!(is_dead(&token_of(&third)).await, "its administrator is none any more");
    for nonsense in ["x", &"A".repeat(43)] {
        assert!(is_dead(nonsense).await);
    }
}

#[tokio::test]
async fn a_new_password_ends_the_sessions_and_its_link_lasts_an_hour() {
    let portal = Portal::start().await;
    let (mut console, id) = person(&portal, "asha@carrier.example", "finance").await;
    let path = format!("{STAFF}/{id}/password-link");
    let late = portal.operator().press(&path).await;
    portal.clock.advance(TimeDelta::minutes(30));
    assert_eq!(console.get(BUSINESSES).await.status, 200);
    portal.clock.advance(TimeDelta::minutes(30));
    assert_eq!(set_password(&portal, &token_of(&late)).await.status, 422);
    let link = portal.operator().press(&path).await;
    assert_eq!(console.get(BUSINESSES).await.status, 200);
    assert_eq!(set_password(&portal, &token_of(&link)).await.status, 204);
    assert_eq!(console.get(BUSINESSES).await.status, 401);
}

#[tokio::test]
async fn an_account_takes_ten_wrong_passwords_apart_from_a_users_account_with_the_same_email() {
    let portal = Portal::start().await;
    portal.owner("asha@carrier.example").await;
    person(&portal, "asha@carrier.example", "viewer").await;
    for email in ["asha@carrier.example", "nobody@carrier.example"] {
        for _ in 0..10 {
            let refused = portal.stranger().post(SESSION, log_in_body(email, "wrong")).await;
            assert_eq!((refused.status, refused.code()), (401, "invalid_credentials"), "{email}");
        }
        let refused = portal.stranger().post(SESSION, log_in_body(email, PASSWORD)).await;
        assert_eq!((refused.status, refused.code()), (429, "too_many_log_ins"), "{email}");
    }
    let user = log_in_body("asha@carrier.example", "correct horse");
    assert_eq!(portal.stranger().post("/v1/portal/session", user).await.status, 200);
    portal.clock.advance(TimeDelta::minutes(15));
    log_in(&portal, "asha@carrier.example").await;
}

fn create_operator(portal: &Portal, email: &str, name: &str) -> std::process::Output {
    let program = env!("CARGO_BIN_EXE_portal-api");
    let settings = &portal.settings;
    let mut command = std::process::Command::new(program);
    command
        .env("WAYBILL_DATABASE__URL", settings.database.url.expose())
        .env("WAYBILL_PUBLIC__URL", "http://portal.test");
    command.args(["create-operator", "--email", email, "--name", name]).output().unwrap()
}

#[tokio::test]
async fn the_command_creates_the_first_administrator_while_the_service_runs() {
    let portal = Portal::today().await;
    let created = create_operator(&portal, "Asha@Carrier.example", "Asha Rao");
    let printed = String::from_utf8(created.stdout).unwrap();
    assert!(created.status.success(), "{printed}");
    let link = printed.lines().last().unwrap();
    let token = link.strip_prefix("http://portal.test/operator/password#token=").unwrap();
    assert_eq!(set_password(&portal, token).await.status, 204);
    let mut console = log_in(&portal, "asha@carrier.example").await;
    assert_eq!(console.get(SESSION).await.body["role"], "administrator");
    assert_eq!(console.get(STAFF).await.body["data"][0]["you"], true);

    let again = create_operator(&portal, "ASHA@carrier.example", "Asha Rao");
    assert!(!again.status.success());
    let error = String::from_utf8(again.stderr).unwrap();
    assert!(error.contains("already has an account"), "{error}");
    for (email, name) in [("asha", "Asha"), ("ravi@carrier.example", " ")] {
        assert_eq!(create_operator(&portal, email, name).status.code(), Some(2), "{email} {name}");
    }
    let log = console.get("/v1/operator/audit-log?action=staff.invited").await.body["data"].clone();
    assert_eq!(log[0]["actor"], json!({ "type": "command", "id": null, "name": "command" }));
}

/// The configured token does everything alone, without any account.
#[tokio::test]
async fn the_configured_token_is_an_administrator() {
    let portal = Portal::start().await;
    let mut console = portal.stranger();
    let opened = console.post(SESSION, json!({ "token": OPERATOR_TOKEN })).await;
    assert_eq!(
        (&opened.body["type"], &opened.body["role"]),
        (&json!("configuration"), &json!("administrator"))
    );
    for mut caller in [console, portal.operator()] {
        for path in [STAFF, "/v1/operator/tokens", "/v1/operator/audit-log", BUSINESSES] {
            assert_eq!(caller.get(path).await.status, 200, "{path}");
        }
    }
}

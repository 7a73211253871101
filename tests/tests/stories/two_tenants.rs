//! No call of the portal shows or changes another business's data: one business calls every operation of the OpenAPI
//! document with the ids of another business, and then with its own ids, which succeeds. An operation with unknown ids
//! or body fails the test, so that a new one cannot be forgotten.

use std::collections::BTreeMap;

use anyhow::{Context, bail};
use demo::clients::{Api, COD_DELIVERY, Portal};
use demo::{SAMPLE_CASH_PAISE, sample_order};
use domain::{Clock, Entropy, PasskeyId};
use local_stack::{Service, Stack};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use test_kit::until;
use waybill_tests::{Business, PASSWORD, smallest_order, text};

/// Its own call succeeds only for a user whom single sign-on created.
const NEEDS_SINGLE_SIGN_ON: &str = "linkUser";

/// Their own calls succeed only after a failed delivery.
const NEED_A_FAILURE: [&str; 2] = ["reattemptOrder", "requestReturn"];

const DESCRIPTION: &str = include_str!("../../../proto-docs/openapi/portal-api.json");
const TOP_UP_PAISE: i64 = 1_000_000;
/// Operations without a session.
const OPEN: [&str; 12] = [
    "signUp",
    "logIn",
    "logInWithSecondFactor",
    "logOut",
    "readConfig",
    "requestPasswordReset",
    "confirmPasswordReset",
    "lookUpPasswordReset",
    "lookUpInvitation",
    "acceptInvitation",
    "startSso",
    "completeSso",
];
/// Operations that end or change something that other calls need. They run last, in this order.
const LAST: [&str; 9] = [
    "removeExport",
    "cancelOrder",
    "eraseOrderPersonalData",
    "revokeApiKey",
    "recover",
    "activateSecret",
    "updateEndpoint",
    "removeUser",
    "deleteEndpoint",
];
/// Their responses never end, or are not lists of rows.
const STREAMS: &str = "/stream";

struct Operation {
    id: String,
    method: Method,
    path: String,
    takes_body: bool,
}

impl Operation {
    /// The ids in its path, as the names of their lists.
    fn owners(&self) -> Vec<&str> {
        let segments: Vec<&str> = self.path.split('/').collect();
        segments.windows(2).filter(|pair| pair[1].starts_with('{')).map(|pair| pair[0]).collect()
    }

    fn of_portal(&self) -> Option<&str> {
        self.path.strip_prefix("/v1/portal").filter(|_| !OPEN.contains(&self.id.as_str()))
    }

    /// A body that would be valid with one's own ids.
    fn body(&self, since: &Value) -> anyhow::Result<Option<Value>> {
        if !self.takes_body {
            return Ok(None);
        }
        let body = match self.id.as_str() {
            "rotateApiKey" => json!({ "graceSeconds": 0 }),
            "simulate" => json!({ "event": "driver.assigned" }),
            "cancelOrder" | "reattemptOrder" | "revokeApiKey" | "rotateSecret" | "testEndpoint" => json!({}),
            "correctDelivery" => json!({ "phone": "+919800000009" }),
            "linkUser" => json!({ "userId": "usr_01ARZ3NDEKTSV4RRFFQ69G5FAV" }),
            "updateEndpoint" => json!({ "status": "paused" }),
            "recover" => json!({ "since": since }),
            "verifySignature" => json!({ "timestamp": "1", "signature": "sha256=00", "body": "{}" }),
            "changeRole" => json!({ "role": "viewer" }),
            other => bail!("define the body of {other} here"),
        };
        Ok(Some(body))
    }
}

fn operations() -> anyhow::Result<Vec<Operation>> {
    let document: Value = serde_json::from_str(DESCRIPTION)?;
    let mut operations = Vec::new();
    for (path, methods) in document["paths"].as_object().context("no paths")? {
        for (method, operation) in methods.as_object().context("no methods")? {
            operations.push(Operation {
                id: text(operation, "operationId")?,
                method: Method::from_bytes(method.to_uppercase().as_bytes())?,
                path: path.clone(),
                takes_body: operation.get("requestBody").is_some(),
            });
        }
    }
    operations.sort_by_key(|operation| LAST.iter().position(|id| *id == operation.id));
    Ok(operations)
}

/// Ids by the name of their list.
type Belongings = BTreeMap<&'static str, String>;

/// One object of each kind that has an id.
async fn belongings(stack: &Stack, business: &Business) -> anyhow::Result<Belongings> {
    let portal = &business.portal;
    let test = business.integration(&business.test_key)?;
    let order = test.create("of-one-business", &smallest_order("of-one-business")).await?.expect(201)?;
    let delivery = business.logged_delivery("of-one-business").await?;
    let first = async |path: &str| {
        let page = portal.get(path).await?;
        text(&page["data"][0], "id")
    };
    let remittances = remittance(business).await?;
    let sessions = another_session(stack, business).await?;
    let users = invited_user(stack, business).await?;
    let passkeys = passkey(stack, business).await?;
    Ok(BTreeMap::from([
        ("orders", text(&order, "id")?),
        ("top-ups", text(&business.top_up(100).await?, "id")?),
        ("recoveries", running_recovery(stack, business).await?),
        ("api-keys", first("/api-keys").await?),
        ("remittances", remittances),
        ("webhook-deliveries", text(&delivery, "id")?),
        ("webhook-endpoints", business.endpoint_id.clone()),
        ("exports", export(business).await?),
        ("invitations", text(&invite(business, "guest").await?, "id")?),
        ("users", users),
        ("sessions", sessions),
        ("passkeys", passkeys),
    ]))
}

/// A complete export, whose file can be fetched.
async fn export(business: &Business) -> anyhow::Result<String> {
    let begun = business.portal.call(Method::POST, "/orders/exports?format=csv", None).await?.expect(202)?;
    let id = text(&begun, "id")?;
    let path = format!("/exports/{id}");
    until("the export is written", async || {
        business.portal.get(&path).await.is_ok_and(|export| export["state"] == "done")
    })
    .await;
    Ok(id)
}

/// A bank transfer that paid the cash of an order.
async fn remittance(business: &Business) -> anyhow::Result<String> {
    let order = business.place(&sample_order("paid-out")).await?;
    business.fleet.drive(&order, &COD_DELIVERY[..4], 0).await?;
    for step in ["cod.collected", "cod.handed_over"] {
        business.fleet.report(&order, step, SAMPLE_CASH_PAISE).await?.expect(200)?;
    }
    text(&business.pay_out(&order, "UTR 7").await?, "id")
}

/// A running recovery, so that it can be cancelled. A small one would be over at once.
async fn running_recovery(stack: &Stack, business: &Business) -> anyhow::Result<String> {
    let path = format!("/webhook-endpoints/{}", business.endpoint_id);
    let since = json!({ "since": business.portal.get(&path).await?["createdAt"] });
    let begun = business.portal.post(&format!("{path}/recover"), &since).await?.expect(202)?;
    let id = text(&begun, "id")?;
    let hold = format!(
        "UPDATE recoveries SET state = 'running', ended_at = NULL, due_at = now() + interval '1 hour'
         WHERE id = '{id}'"
    );
    stack.query(Service::WebhookDispatcher, &hold).await?;
    Ok(id)
}

async fn invite(business: &Business, name: &str) -> anyhow::Result<Value> {
    let email = format!("{name}-of-{}@example.com", business.endpoint_id);
    business.portal.post("/invitations", &json!({ "email": email, "role": "viewer" })).await?.expect(201)
}

/// An invited user, because the owner cannot be removed. It has a second factor, which can be reset.
async fn invited_user(stack: &Stack, business: &Business) -> anyhow::Result<String> {
    business.confirm_email().await?;
    let invited = invite(business, "colleague").await?;
    assert_eq!(invited.get("url"), None, "only the invited person receives the link");
    let token = business.mailed_token(&text(&invited, "email")?, "invitation").await?;
    let api = Api::new(stack.portal_api())?;
    let accept = api.request(Method::POST, "/v1/portal/invitations/accept");
    api.send(accept.json(&json!({ "token": token, "password": PASSWORD }))).await?.expect(201)?;
    let users = business.portal.get("/users").await?;
    let viewer = users["data"].as_array().into_iter().flatten().find(|user| user["role"] == "viewer");
    let id = text(viewer.context("the invited user")?, "id")?;
    enrol(stack, &id).await?;
    Ok(id)
}

async fn enrol(stack: &Stack, user: &str) -> anyhow::Result<()> {
    let enrol = format!(
        "INSERT INTO second_factors (account_id, realm, sealed_secret, started_at, confirmed_at)
         SELECT account_id, realm, '', now(), now() FROM memberships WHERE id = '{user}'"
    );
    stack.query(Service::PortalApi, &enrol).await?;
    Ok(())
}

/// A passkey of the owner, whose open session goes on.
async fn passkey(stack: &Stack, business: &Business) -> anyhow::Result<String> {
    let users = business.portal.get("/users").await?;
    let owner = users["data"].as_array().into_iter().flatten().find(|user| user["role"] == "owner");
    let owner = text(owner.context("the owner")?, "id")?;
    enrol(stack, &owner).await?;
    let id = PasskeyId::generate(&Clock::system(), &Entropy::from_system()?).to_string();
    let add = format!(
        "INSERT INTO passkeys (id, account_id, realm, credential_id, credential, name, created_at)
         SELECT '{id}', account_id, realm, convert_to(id, 'UTF8'), '{{}}', 'Laptop', now()
         FROM memberships WHERE id = '{owner}'"
    );
    stack.query(Service::PortalApi, &add).await?;
    Ok(id)
}

/// The owner's second session, which can be logged out. The calling session must continue.
async fn another_session(stack: &Stack, business: &Business) -> anyhow::Result<String> {
    let email = text(&business.portal.get("/users").await?["data"][0], "email")?;
    Portal::log_in(&stack.portal_api(), &email, PASSWORD).await?;
    let sessions = business.portal.get("/sessions").await?;
    let other = sessions["data"].as_array().into_iter().flatten().find(|session| session["current"] == false);
    text(other.context("another session")?, "id")
}

/// The path with the last id from one business and the ids before it from the other.
fn filled(path: &str, owners: &[&str], outer: &Belongings, inner: &Belongings) -> anyhow::Result<String> {
    let mut path = path.to_owned();
    for (depth, owner) in owners.iter().enumerate() {
        let from = if depth + 1 == owners.len() { inner } else { outer };
        let id = from.get(owner).with_context(|| format!("define the id of {owner} here"))?;
        let (begin, end) = (path.find('{').context("no id")?, path.find('}').context("no id")?);
        path.replace_range(begin..=end, id);
    }
    Ok(path)
}

/// Everything that a business sees of itself in its lists.
async fn seen_by(business: &Business, operations: &[Operation]) -> anyhow::Result<BTreeMap<String, Value>> {
    let mut seen = BTreeMap::new();
    for operation in operations.iter().filter(|one| one.method == Method::GET && one.owners().is_empty()) {
        let Some(path) = operation.of_portal().filter(|path| !path.contains(STREAMS)) else { continue };
        let reply = business.portal.call(Method::GET, path, None).await?;
        assert_eq!(reply.status, StatusCode::OK, "{}: {}", operation.id, reply.body);
        seen.insert(operation.id.clone(), reply.body);
    }
    Ok(seen)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_business_neither_sees_nor_changes_another_s_data() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    let (mut one, mut other) = (Business::sign_up(&stack).await?, Business::sign_up(&stack).await?);
    one.go_live(TOP_UP_PAISE).await?;
    other.go_live(TOP_UP_PAISE).await?;
    let (ours, theirs) = (belongings(&stack, &one).await?, belongings(&stack, &other).await?);
    let operations = operations()?;
    let since =
        one.portal.get(&format!("/webhook-endpoints/{}", one.endpoint_id)).await?["createdAt"].clone();

    for operation in &operations {
        let Some(path) = operation.of_portal() else { continue };
        let owners = operation.owners();
        if owners.is_empty() {
            continue;
        }
        let body = operation.body(&since)?;
        let call = async |outer, inner| {
            let path = filled(path, &owners, outer, inner)?;
            one.portal.call(operation.method.clone(), &path, body.as_ref()).await
        };
        // One's own outer id must not give access to another's inner id.
        for outer in [&theirs, &ours].into_iter().take(owners.len()) {
            let reply = call(outer, &theirs).await?;
            assert_eq!(reply.status, StatusCode::NOT_FOUND, "{} of theirs: {}", operation.id, reply.body);
        }
        if operation.id == NEEDS_SINGLE_SIGN_ON {
            continue;
        }
        let reply = call(&ours, &ours).await?;
        if NEED_A_FAILURE.contains(&operation.id.as_str()) {
            assert_eq!(reply.status, StatusCode::CONFLICT, "{}: {}", operation.id, reply.body);
            continue;
        }
        assert!(reply.status.is_success(), "{} of ours: {} {}", operation.id, reply.status, reply.body);
    }

    for (operation, seen) in seen_by(&one, &operations).await? {
        let seen = seen.to_string();
        for id in theirs.values().chain([&other.portal.business_id]) {
            assert!(!seen.contains(id.as_str()), "{operation} shows {id} of another business");
        }
    }
    stack.shut_down().await
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_require_a_log_in_and_businesses_cannot_make_operator_calls() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    let business = Business::sign_up(&stack).await?;
    let client = reqwest::Client::new();
    for operation in operations()? {
        let path = operation.path.replace(['{', '}'], "");
        let body = operation.takes_body.then(|| json!({}));
        let send = |request: reqwest::RequestBuilder| match &body {
            Some(body) => request.json(body),
            None => request,
        };
        let url = format!("{}{path}", stack.portal_api());
        // A person without a password has a link instead of a log-in.
        let needs_no_log_in = ["/session", "/session/second-factor"].iter().any(|end| path.ends_with(end))
            || path.contains("/password-links/")
            || path.contains("/sso/log-ins");
        let of_operator = path.starts_with("/v1/operator/") && !needs_no_log_in;
        if operation.of_portal().is_some() || of_operator {
            let reply = send(client.request(operation.method.clone(), &url)).send().await?;
            assert_eq!(reply.status(), StatusCode::UNAUTHORIZED, "{} without a log-in", operation.id);
        }
        if of_operator {
            // The portal's client adds `/v1/portal` to each path.
            let path = format!("/../operator{}", path.trim_start_matches("/v1/operator"));
            let reply = business.portal.call(operation.method.clone(), &path, body.as_ref()).await?;
            assert_eq!(reply.status, StatusCode::UNAUTHORIZED, "{} with a business's log-in", operation.id);
        }
    }
    stack.shut_down().await
}

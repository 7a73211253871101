//! Single sign-on with a real provider: `oidc-provider`, which is among the packages of the pages' tests.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use reqwest::Response;
use reqwest::header::{COOKIE, LOCATION, SET_COOKIE};
use serde_json::{Value, json};
use url::Url;

use crate::business_sso;
use crate::client::{Answer, Client};
use crate::identity_provider::{COMPLETE, START, Visit};
use crate::portal::Portal;
use crate::staff::SESSION;

const SCRIPT: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../portal-web/tests/support/identity-provider.mjs");

/// The running provider.
struct Provider {
    process: Child,
    /// It ends when it cannot write.
    _output: BufReader<ChildStdout>,
    issuer: String,
}

impl Provider {
    fn start() -> Self {
        Self::of(&[])
    }

    /// Also for businesses with these log-in pages.
    fn of(log_in_pages: &[String]) -> Self {
        let mut process = Command::new("node")
            .args([SCRIPT, "0", "http://portal.test"])
            .args(log_in_pages)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut issuer = String::new();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        output.read_line(&mut issuer).unwrap();
        assert!(!issuer.is_empty(), "the provider did not start; are the packages of portal-web installed?");
        Self { process, _output: output, issuer: issuer.trim().to_owned() }
    }

    async fn portal(&self, algorithm: &str) -> Portal {
        Portal::today_with(&[
            ("WAYBILL_LIMITS__PER_ADDRESS", "false"),
            ("WAYBILL_SSO__ISSUER", &self.issuer),
            ("WAYBILL_SSO__CLIENT_ID", &format!("waybill-{algorithm}")),
            ("WAYBILL_SSO__CLIENT_SECRET", "a secret of the provider in tests"),
            ("WAYBILL_SSO__SCOPES", "email profile groups"),
            ("WAYBILL_SSO__ROLES", "ops=administrator"),
        ])
        .await
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let ended = self.process.kill().and_then(|()| self.process.wait());
        assert!(ended.is_ok() || std::thread::panicking(), "{ended:?}");
    }
}

/// A person's browser at the provider, with its cookies.
#[derive(Default)]
struct Person {
    name: &'static str,
    cookies: HashMap<String, String>,
    /// How often the person had to log in.
    log_ins: usize,
}

impl Person {
    fn new(name: &'static str) -> Self {
        Self { name, ..Self::default() }
    }

    /// Follows redirects and fills in forms, until the provider leads back to the console. Returns what it says there.
    async fn visit(&mut self, url: &Url) -> HashMap<String, String> {
        let mut at = url.clone();
        let mut response = self.send(&at, None).await;
        for _ in 0..20 {
            if let Some(location) = response.headers().get(LOCATION) {
                at = at.join(location.to_str().unwrap()).unwrap();
                if at.host_str() == Some("portal.test") {
                    let is_known = at.path() == "/operator/sso" || at.path().ends_with("/return");
                    assert!(is_known, "{at}");
                    return at.query_pairs().into_owned().collect();
                }
                response = self.send(&at, None).await;
                continue;
            }
            let (status, page) = (response.status(), response.text().await.unwrap());
            let form = if page.contains("name=\"login\"") {
                self.log_ins += 1;
                format!("prompt=login&login={}&password=any", self.name)
            } else {
                assert!(page.contains("value=\"consent\""), "{status}: {page}");
                "prompt=consent".to_owned()
            };
            response = self.send(&at, Some(form)).await;
        }
        panic!("the provider never came back");
    }

    async fn send(&mut self, url: &Url, form: Option<String>) -> Response {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let http = reqwest::Client::builder()
            .tls_certs_only([])
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        let request = match form {
            Some(form) => {
                http.post(url.clone()).header("content-type", "application/x-www-form-urlencoded").body(form)
            }
            None => http.get(url.clone()),
        };
        let response = request.header(COOKIE, cookies.join("; ")).send().await.unwrap();
        for cookie in response.headers().get_all(SET_COOKIE) {
            let (name, value) = cookie.to_str().unwrap().split(';').next().unwrap().split_once('=').unwrap();
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        response
    }
}

/// Starts in the browser, visits the provider, and comes back.
async fn go(browser: &mut Client, person: &mut Person, purpose: &str) -> Answer {
    let visit = Visit::of(&browser.post(START, json!({ "purpose": purpose })).await);
    let returned = person.visit(&visit.url).await;
    assert!(returned.contains_key("iss"), "this provider names itself: {returned:?}");
    browser.post(COMPLETE, json!(returned)).await
}

#[tokio::test]
async fn each_algorithm_of_a_real_provider_opens_a_session() {
    let provider = Provider::start();
    for algorithm in ["RS256", "PS256", "ES256", "EdDSA"] {
        let portal = provider.portal(algorithm).await;
        let (mut browser, mut asha) = (portal.stranger(), Person::new("asha"));
        let opened = go(&mut browser, &mut asha, "log_in").await;
        assert_eq!(opened.status, 200, "{algorithm}: {opened:?}");
        let expected = (&json!("asha@operator.example"), &json!("administrator"));
        assert_eq!((&opened.body["name"], &opened.body["role"]), expected);
        assert_eq!(browser.get("/v1/operator/businesses").await.status, 200);
    }
}

#[tokio::test]
async fn a_real_provider_confirms_refuses_and_logs_out() {
    let provider = Provider::start();
    let portal = provider.portal("ES256").await;
    let (mut browser, mut asha) = (portal.stranger(), Person::new("asha"));
    go(&mut browser, &mut asha, "log_in").await;
    let again = go(&mut portal.stranger(), &mut asha, "log_in").await;
    assert_eq!((again.status, asha.log_ins), (200, 1), "the provider has a session: {again:?}");
    let confirmed = go(&mut browser, &mut asha, "confirm").await;
    assert_eq!((confirmed.status, asha.log_ins), (204, 2), "max_age=0 asks for the password: {confirmed:?}");

    let refused = go(&mut portal.stranger(), &mut Person::new("binu"), "log_in").await;
    assert_eq!((refused.status, refused.code()), (403, "sso_no_role"), "{refused:?}");

    let visit = Visit::of(&browser.post(START, json!({ "purpose": "log_in" })).await);
    let mut returned = asha.visit(&visit.url).await;
    let code = returned["code"].clone();
    assert_eq!(browser.post(COMPLETE, json!(returned)).await.status, 200);
    let other = Visit::of(&browser.post(START, json!({ "purpose": "log_in" })).await);
    returned.insert("state".to_owned(), other.state().to_owned());
    returned.insert("code".to_owned(), code);
    let replayed = browser.post(COMPLETE, json!(returned)).await;
    assert_eq!((replayed.status, replayed.code()), (422, "sso_response_invalid"), "{replayed:?}");

    let closed = browser.delete(SESSION).await;
    let url = Url::parse(closed.body["logOutUrl"].as_str().unwrap_or_else(|| panic!("{closed:?}"))).unwrap();
    let page = asha.send(&url, None).await;
    assert_eq!(page.status(), 200, "the provider accepts the client and where to return to");
    assert_eq!(browser.get(SESSION).await.body["code"], Value::from("not_logged_in"));
}

#[tokio::test]
async fn a_real_provider_of_a_business_opens_confirms_and_logs_out() {
    let portal = Portal::today_with(&business_sso::ENABLED).await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.approve(&owner.business).await;
    let page = format!("http://portal.test/log-in/{}", owner.business);
    let provider = Provider::of(&[page]);
    let settings = json!({
        "issuer": provider.issuer,
        "clientId": "waybill-PS256",
        "clientSecret": "a secret of the provider in tests",
        "scopes": "email profile groups",
        "groupRoles": [{ "group": "ops", "role": "developer" }],
    });
    business_sso::set_up(&mut owner, &settings).await;
    let tested = owner.client.post("/v1/portal/single-sign-on/test", json!({})).await;
    assert_eq!(tested.body, json!({ "ok": true, "problem": null, "missingClaims": [] }));
    let (mut browser, mut asha) = (portal.stranger(), Person::new("asha"));
    let mut visit = async |browser: &mut Client, body: serde_json::Value| {
        let visit = Visit::of(&browser.post(business_sso::START, body).await);
        let mut returned = json!(asha.visit(&visit.url).await);
        returned["businessId"] = json!(owner.business);
        (browser.post(business_sso::COMPLETE, returned).await, asha.log_ins)
    };
    let start = json!({ "purpose": "log_in", "businessId": owner.business });
    let (opened, _) = visit(&mut browser, start).await;
    assert_eq!((opened.status, &opened.body["role"]), (200, &json!("developer")), "{opened:?}");
    let (confirmed, log_ins) = visit(&mut browser, json!({ "purpose": "confirm" })).await;
    assert_eq!((confirmed.status, log_ins), (204, 2), "max_age=0 asks for the password: {confirmed:?}");
    let closed = browser.delete("/v1/portal/session").await;
    let url = Url::parse(closed.body["logOutUrl"].as_str().unwrap_or_else(|| panic!("{closed:?}"))).unwrap();
    assert_eq!(Person::new("asha").send(&url, None).await.status(), 200, "the provider accepts the page");
}

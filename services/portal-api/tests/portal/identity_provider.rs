//! An identity provider that answers what a test wants, and may attack: it makes and signs every ID token by hand.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use actix_web::http::StatusCode;
use actix_web::web::{Bytes, Data};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use openidconnect::core::{CoreEdDsaPrivateSigningKey, CoreJwsSigningAlgorithm};
use openidconnect::{JsonWebKeyId, PrivateSigningKey};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::sync::Notify;
use url::Url;

use crate::client::{Answer, Client};
use crate::portal::Portal;

pub(crate) const START: &str = "/v1/operator/sso/log-ins";
pub(crate) const COMPLETE: &str = "/v1/operator/sso/log-ins/complete";
pub(crate) const CLIENT_ID: &str = "waybill-console";
pub(crate) const CLIENT_SECRET: &str = "a secret that only the provider and the console know";

/// A key that signs ID tokens with EdDSA.
pub(crate) struct Key {
    id: String,
    key: CoreEdDsaPrivateSigningKey,
}

impl Key {
    /// Keys of different seeds differ.
    pub(crate) fn new(id: &str, seed: u8) -> Self {
        // PKCS #8 of an Ed25519 key (RFC 8410 §7).
        const PREFIX: [u8; 16] = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32];
        let der = STANDARD.encode([&PREFIX[..], &[seed; 32]].concat());
        let pem = format!("-----BEGIN PRIVATE KEY-----\n{der}\n-----END PRIVATE KEY-----\n");
        let key_id = Some(JsonWebKeyId::new(id.to_owned()));
        Self { id: id.to_owned(), key: CoreEdDsaPrivateSigningKey::from_ed25519_pem(&pem, key_id).unwrap() }
    }

    fn public(&self) -> Value {
        serde_json::to_value(self.key.as_verification_key()).unwrap()
    }

    pub(crate) fn public_bytes(&self) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode(self.public()["x"].as_str().unwrap()).unwrap()
    }

    pub(crate) fn sign(&self, claims: &Value) -> String {
        self.sign_as(&self.id, claims)
    }

    /// With the id of another key.
    pub(crate) fn sign_as(&self, id: &str, claims: &Value) -> String {
        jwt(&json!({ "alg": "EdDSA", "kid": id }), claims, |input| {
            self.key.sign(&CoreJwsSigningAlgorithm::EdDsa, input).unwrap()
        })
    }
}

pub(crate) fn jwt(header: &Value, claims: &Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let input = format!("{}.{}", part(header), part(claims));
    let signature = URL_SAFE_NO_PAD.encode(sign(input.as_bytes()));
    format!("{input}.{signature}")
}

pub(crate) fn hmac(secret: &[u8], input: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).unwrap();
    mac.update(input);
    mac.finalize().into_bytes().to_vec()
}

#[derive(Default)]
struct Desk {
    /// What the token endpoint answers, each once, the newest first.
    tokens: Vec<(u16, Value)>,
    user_info: Option<Value>,
    keys: Vec<Value>,
    /// Fields of the metadata that differ.
    metadata: HashMap<String, Value>,
    is_down: bool,
    /// Takes calls for its metadata, and never answers them.
    is_silent: bool,
    /// What calls of the token endpoint wait for.
    hold: Option<Arc<Notify>>,
    asked: Vec<(String, HashMap<String, String>)>,
}

#[derive(Clone)]
pub(crate) struct IdentityProvider {
    address: SocketAddr,
    desk: Arc<Mutex<Desk>>,
}

/// A browser at the provider.
pub(crate) struct Visit {
    pub(crate) url: Url,
    pub(crate) query: HashMap<String, String>,
}

impl Visit {
    pub(crate) fn of(started: &Answer) -> Self {
        assert_eq!(started.status, 201, "{started:?}");
        let url = Url::parse(started.body["url"].as_str().unwrap()).unwrap();
        let query = url.query_pairs().into_owned().collect();
        Self { url, query }
    }

    pub(crate) fn state(&self) -> &str {
        &self.query["state"]
    }
}

impl IdentityProvider {
    /// With one key.
    pub(crate) fn start(key: &Key) -> Self {
        let desk = Arc::new(Mutex::new(Desk::default()));
        let shared = Data::from(desk.clone());
        let server =
            HttpServer::new(move || App::new().app_data(shared.clone()).default_service(web::to(answer)))
                .workers(1)
                .disable_signals()
                .bind("127.0.0.1:0")
                .unwrap();
        let address = server.addrs()[0];
        tokio::spawn(server.run());
        let provider = Self { address, desk };
        provider.publish(&[key]);
        provider
    }

    pub(crate) fn issuer(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on these are its keys.
    pub(crate) fn publish(&self, keys: &[&Key]) {
        self.desk.lock().unwrap().keys = keys.iter().map(|key| key.public()).collect();
    }

    pub(crate) fn with_metadata(&self, name: &str, value: Value) {
        self.desk.lock().unwrap().metadata.insert(name.to_owned(), value);
    }

    pub(crate) fn is_down(&self, is_down: bool) {
        self.desk.lock().unwrap().is_down = is_down;
    }

    pub(crate) fn is_silent(&self, is_silent: bool) {
        self.desk.lock().unwrap().is_silent = is_silent;
    }

    /// From now on the token endpoint answers a call only after a notification.
    pub(crate) fn hold_tokens(&self) -> Arc<Notify> {
        let hold = Arc::new(Notify::new());
        self.desk.lock().unwrap().hold = Some(hold.clone());
        hold
    }

    pub(crate) fn user_info(&self, claims: Value) {
        self.desk.lock().unwrap().user_info = Some(claims);
    }

    /// The next answer of the token endpoint.
    pub(crate) fn answer(&self, status: u16, body: Value) {
        self.desk.lock().unwrap().tokens.push((status, body));
    }

    /// The next answer has this ID token.
    pub(crate) fn issue(&self, token: &str) {
        let body = json!({ "access_token": "an access token", "token_type": "Bearer", "id_token": token });
        self.answer(200, body);
    }

    /// The parameters of the calls of a path, oldest first.
    pub(crate) fn asked(&self, path: &str) -> Vec<HashMap<String, String>> {
        let desk = self.desk.lock().unwrap();
        desk.asked.iter().filter(|(asked, _)| asked == path).map(|(_, with)| with.clone()).collect()
    }

    /// The claims of a person who authenticated just now. `more` changes them; `null` removes one.
    pub(crate) fn claims(&self, portal: &Portal, visit: &Visit, more: &Value) -> Value {
        let now = portal.clock.now().timestamp();
        let mut claims = json!({
            "iss": self.issuer(),
            "aud": CLIENT_ID,
            "sub": "person-1",
            "nonce": visit.query["nonce"],
            "iat": now,
            "exp": now + 300,
            "auth_time": now,
            "email": "asha@operator.example",
            "email_verified": true,
            "name": "Asha Rao",
            "groups": ["everybody", "ops"],
        });
        for (name, value) in more.as_object().unwrap() {
            match value {
                Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
                value => claims[name] = value.clone(),
            }
        }
        claims
    }
}

async fn answer(request: HttpRequest, body: Bytes, desk: Data<Mutex<Desk>>) -> HttpResponse {
    let given = url::form_urlencoded::parse(&body).into_owned().collect();
    let (is_silent, hold) = {
        let mut desk = desk.lock().unwrap();
        desk.asked.push((request.path().to_owned(), given));
        let hold = desk.hold.clone().filter(|_| request.path() == "/token");
        (desk.is_silent && request.path() == "/.well-known/openid-configuration", hold)
    };
    if let Some(hold) = hold {
        hold.notified().await;
    }
    if is_silent {
        std::future::pending::<()>().await;
    }
    let mut desk = desk.lock().unwrap();
    if desk.is_down {
        return HttpResponse::BadGateway().body("<h1>Bad gateway</h1>");
    }
    let issuer = format!("http://{}", request.app_config().local_addr());
    match request.path() {
        "/.well-known/openid-configuration" => HttpResponse::Ok().json(metadata(&issuer, &desk.metadata)),
        "/keys" => HttpResponse::Ok().json(json!({ "keys": desk.keys })),
        "/token" => match desk.tokens.pop() {
            Some((status, body)) => HttpResponse::build(StatusCode::from_u16(status).unwrap())
                // For redirects.
                .insert_header(("location", "/elsewhere"))
                .json(body),
            None => HttpResponse::BadRequest().json(json!({ "error": "invalid_grant" })),
        },
        "/user-info" => match &desk.user_info {
            Some(claims) => HttpResponse::Ok().json(claims),
            None => HttpResponse::Forbidden().finish(),
        },
        _ => HttpResponse::NotFound().finish(),
    }
}

fn metadata(issuer: &str, more: &HashMap<String, Value>) -> Value {
    let mut metadata = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "userinfo_endpoint": format!("{issuer}/user-info"),
        "jwks_uri": format!("{issuer}/keys"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["EdDSA"],
    });
    for (name, value) in more {
        metadata[name] = value.clone();
    }
    metadata
}

impl Portal {
    /// One whose staff logs in with this provider. Its group `ops` gives the role administrator.
    pub(crate) async fn with_provider(provider: &IdentityProvider, more: &[(&str, &str)]) -> Self {
        let issuer = provider.issuer();
        let settings = [
            ("WAYBILL_LIMITS__PER_ADDRESS", "false"),
            ("WAYBILL_SSO__ISSUER", issuer.as_str()),
            ("WAYBILL_SSO__CLIENT_ID", CLIENT_ID),
            ("WAYBILL_SSO__CLIENT_SECRET", CLIENT_SECRET),
            ("WAYBILL_SSO__ROLES", "ops=administrator; money=finance; all=viewer"),
        ];
        Self::with(&[&settings, more].concat()).await
    }
}

/// The browser starts a log-in.
pub(crate) async fn start(browser: &mut Client) -> Visit {
    Visit::of(&browser.post(START, json!({ "purpose": "log_in" })).await)
}

/// The browser returns with a code.
pub(crate) async fn come_back(browser: &mut Client, visit: &Visit) -> Answer {
    browser.post(COMPLETE, json!({ "state": visit.state(), "code": "a code" })).await
}

/// A whole log-in of a person with these claims.
pub(crate) async fn log_in(
    portal: &Portal,
    (provider, key): (&IdentityProvider, &Key),
    browser: &mut Client,
    more: &Value,
) -> Answer {
    let visit = start(browser).await;
    provider.issue(&key.sign(&provider.claims(portal, &visit, more)));
    come_back(browser, &visit).await
}

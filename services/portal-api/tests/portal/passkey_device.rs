//! A software authenticator with a key of P-256, and the browser around it. Tests choose what a browser would refuse to send.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::Entropy;
use p256::ecdsa::signature::Signer;
use p256::ecdsa::{DerSignature, SigningKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::authenticator::{enrol, enrol_at};
use crate::client::{Answer, Client};
use crate::portal::Portal;

/// The flags of authenticator data.
const PRESENT: u8 = 0x01;
const VERIFIED: u8 = 0x04;
const ATTESTED: u8 = 0x40;

pub(crate) const PORTAL_ORIGIN: &str = "https://portal.test";
pub(crate) const CONSOLE_ORIGIN: &str = "https://console.test";

/// The calls of one part.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub(crate) origin: &'static str,
    pub(crate) factor: &'static str,
    pub(crate) passkeys: &'static str,
    pub(crate) session: &'static str,
    pub(crate) step: &'static str,
    pub(crate) confirm: &'static str,
}

pub(crate) const PORTAL: Part = Part {
    origin: PORTAL_ORIGIN,
    factor: "/v1/portal/second-factor",
    passkeys: "/v1/portal/second-factor/passkeys",
    session: "/v1/portal/session",
    step: "/v1/portal/session/second-factor",
    confirm: "/v1/portal/session/confirm",
};

pub(crate) const CONSOLE: Part = Part {
    origin: CONSOLE_ORIGIN,
    factor: "/v1/operator/second-factor",
    passkeys: "/v1/operator/second-factor/passkeys",
    session: "/v1/operator/session",
    step: "/v1/operator/session/second-factor",
    confirm: "/v1/operator/session/confirm",
};

/// A browser with its authenticator, which has one credential.
pub(crate) struct Device {
    key: SigningKey,
    /// Of the credential.
    pub(crate) id: Vec<u8>,
    /// The next signature has the number after this one.
    pub(crate) counter: u32,
    /// Of the page.
    pub(crate) origin: String,
    /// Signs for another site than the page asks for.
    pub(crate) rp_id: Option<String>,
    /// Whether the authenticator checks the person.
    pub(crate) verifies: bool,
}

impl Device {
    pub(crate) fn at(origin: &str) -> Self {
        let entropy = Entropy::from_system().unwrap();
        Self {
            key: SigningKey::from_slice(&entropy.bytes::<32>()).unwrap(),
            id: entropy.bytes::<16>().to_vec(),
            counter: 0,
            origin: origin.to_owned(),
            rp_id: None,
            verifies: true,
        }
    }

    /// `navigator.credentials.create`, as JSON.
    pub(crate) fn create(&mut self, options: &Value) -> Value {
        let mut data = self.authenticator_data(&options["rp"]["id"], ATTESTED);
        // No model; then the credential.
        data.extend([0; 16]);
        data.extend(u16::try_from(self.id.len()).unwrap().to_be_bytes());
        data.extend(&self.id);
        data.extend(self.public_key());
        let mut attestation = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59".to_vec();
        attestation.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
        attestation.extend(data);
        let response = json!({
            "clientDataJSON": encode(self.client_data("webauthn.create", options).as_bytes()),
            "attestationObject": encode(&attestation),
            "transports": ["internal", "of-a-later-browser"],
        });
        credential(&self.id, &response)
    }

    /// `navigator.credentials.get`, as JSON.
    pub(crate) fn sign(&mut self, options: &Value) -> Value {
        self.sign_as(&self.id.clone(), options)
    }

    /// With its own key, in the name of the first credential that is asked for.
    pub(crate) fn pretend(&mut self, options: &Value) -> Value {
        let id = URL_SAFE_NO_PAD.decode(text(&options["allowCredentials"][0]["id"])).unwrap();
        self.sign_as(&id, options)
    }

    fn sign_as(&mut self, id: &[u8], options: &Value) -> Value {
        let client_data = self.client_data("webauthn.get", options);
        let data = self.authenticator_data(&options["rpId"], 0);
        let signed = [data.clone(), Sha256::digest(&client_data).to_vec()].concat();
        let signature: DerSignature = self.key.sign(&signed);
        let response = json!({
            "clientDataJSON": encode(client_data.as_bytes()),
            "authenticatorData": encode(&data),
            "signature": encode(signature.as_bytes()),
            "userHandle": null,
        });
        credential(id, &response)
    }

    fn client_data(&self, kind: &str, options: &Value) -> String {
        let challenge = text(&options["challenge"]);
        json!({ "type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": false })
            .to_string()
    }

    fn authenticator_data(&mut self, rp_id: &Value, flags: u8) -> Vec<u8> {
        self.counter += 1;
        let rp_id = self.rp_id.clone().unwrap_or_else(|| text(rp_id));
        let flags = flags | PRESENT | if self.verifies { VERIFIED } else { 0 };
        let mut data = Sha256::digest(rp_id).to_vec();
        data.push(flags);
        data.extend(self.counter.to_be_bytes());
        data
    }

    /// As a COSE key: EC2, ES256, P-256 and the coordinates.
    fn public_key(&self) -> Vec<u8> {
        let point = self.key.verifying_key().to_sec1_point(false);
        let (x, y) = (point.x().unwrap(), point.y().unwrap());
        [b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20", &x[..], b"\x22\x58\x20", &y[..]].concat()
    }
}

fn credential(id: &[u8], response: &Value) -> Value {
    json!({
        "id": encode(id),
        "rawId": encode(id),
        "type": "public-key",
        "response": response,
        "clientExtensionResults": {},
        "authenticatorAttachment": "platform",
    })
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}

fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Portal {
    /// One at addresses where browsers offer passkeys.
    pub(crate) async fn with_passkeys(more: &[(&str, &str)]) -> Self {
        let addresses =
            [("WAYBILL_PUBLIC__URL", PORTAL_ORIGIN), ("WAYBILL_PUBLIC__CONSOLE_URL", CONSOLE_ORIGIN)];
        Self::with_factors(&[&addresses, more].concat()).await
    }

    /// An owner with an authenticator app and a passkey.
    pub(crate) async fn owner_with_passkey(&self, email: &str) -> (Client, Device) {
        let mut owner = self.owner(email).await.client;
        enrol(self, &mut owner).await;
        let device = add_device(&mut owner, PORTAL).await;
        (owner, device)
    }

    /// A person of the staff with an authenticator app and a passkey, and their id.
    pub(crate) async fn person_with_passkey(&self, email: &str, role: &str) -> (Client, Device, String) {
        let (mut person, id) = crate::staff::person(self, email, role).await;
        enrol_at(self, &mut person, CONSOLE.factor).await;
        let device = add_device(&mut person, CONSOLE).await;
        (person, device, id)
    }

    /// A visitor of this part who has entered the right password of an account with a passkey.
    pub(crate) async fn half_way(&self, part: Part, email: &str) -> Client {
        let password = if part.origin == PORTAL_ORIGIN { "correct horse" } else { "battery staple" };
        let mut visitor = self.stranger();
        let half = visitor.post(part.session, json!({ "email": email, "password": password })).await;
        assert_eq!((half.status, &half.body["passkeyOrigin"]), (202, &json!(part.origin)), "{half:?}");
        visitor
    }
}

/// Options that are returned.
pub(crate) async fn options(client: &mut Client, path: &str) -> Value {
    let answer = client.press(path).await;
    assert_eq!((answer.status, answer.header("cache-control")), (200, "no-store"), "{path}: {answer:?}");
    answer.body["options"].clone()
}

pub(crate) async fn creation_options(client: &mut Client, part: Part) -> Value {
    options(client, &format!("{}/options", part.passkeys)).await
}

pub(crate) async fn log_in_options(client: &mut Client, part: Part) -> Value {
    options(client, &format!("{}/passkey-options", part.step)).await
}

pub(crate) async fn confirm_options(client: &mut Client, part: Part) -> Value {
    options(client, &format!("{}/passkey-options", part.confirm)).await
}

/// Adds a passkey of this device.
pub(crate) async fn add(client: &mut Client, part: Part, device: &mut Device, name: &str) -> Answer {
    let options = creation_options(client, part).await;
    let passkey = device.create(&options);
    client.post(part.passkeys, json!({ "name": name, "passkey": passkey })).await
}

async fn add_device(client: &mut Client, part: Part) -> Device {
    let mut device = Device::at(part.origin);
    let added = add(client, part, &mut device, "Laptop").await;
    assert_eq!(added.status, 201, "{added:?}");
    device
}

/// Completes a log-in with the passkey of this device.
pub(crate) async fn complete(client: &mut Client, part: Part, device: &mut Device) -> Answer {
    let options = log_in_options(client, part).await;
    let passkey = device.sign(&options);
    client.post(part.step, json!({ "passkey": passkey })).await
}

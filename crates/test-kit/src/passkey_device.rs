//! A software authenticator with a key of P-256, and the browser around it. Tests choose what a browser would refuse to send.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::Entropy;
use p256::ecdsa::signature::Signer;
use p256::ecdsa::{DerSignature, SigningKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The flags of authenticator data.
const PRESENT: u8 = 0x01;
const VERIFIED: u8 = 0x04;
const ATTESTED: u8 = 0x40;

/// A browser with its authenticator, which has one credential.
pub struct PasskeyDevice {
    key: SigningKey,
    /// Of the credential.
    pub id: Vec<u8>,
    /// The next signature has the number after this one.
    pub counter: u32,
    /// Of the page.
    pub origin: String,
    /// Signs for another site than the page asks for.
    pub rp_id: Option<String>,
    /// Whether the authenticator checks the person.
    pub verifies: bool,
}

impl PasskeyDevice {
    /// With a new key and credential.
    pub fn at(origin: &str) -> Self {
        let entropy = Entropy::from_system().expect("randomness");
        Self {
            key: SigningKey::from_slice(&entropy.bytes::<32>()).expect("a key"),
            id: entropy.bytes::<16>().to_vec(),
            counter: 0,
            origin: origin.to_owned(),
            rp_id: None,
            verifies: true,
        }
    }

    /// `navigator.credentials.create`, as JSON.
    pub fn create(&mut self, options: &Value) -> Value {
        let mut data = self.authenticator_data(&options["rp"]["id"], ATTESTED);
        // No model; then the credential.
        data.extend([0; 16]);
        data.extend(u16::try_from(self.id.len()).expect("a short id").to_be_bytes());
        data.extend(&self.id);
        data.extend(self.public_key());
        let mut attestation = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59".to_vec();
        attestation.extend(u16::try_from(data.len()).expect("short data").to_be_bytes());
        attestation.extend(data);
        let response = json!({
            "clientDataJSON": encode(self.client_data("webauthn.create", options).as_bytes()),
            "attestationObject": encode(&attestation),
            "transports": ["internal", "of-a-later-browser"],
        });
        credential(&self.id, &response)
    }

    /// `navigator.credentials.get`, as JSON.
    pub fn sign(&mut self, options: &Value) -> Value {
        self.sign_as(&self.id.clone(), options)
    }

    /// With its own key, in the name of the first credential that is asked for.
    pub fn pretend(&mut self, options: &Value) -> Value {
        let id = URL_SAFE_NO_PAD.decode(text(&options["allowCredentials"][0]["id"])).expect("an id");
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
        let (x, y) = (point.x().expect("a coordinate"), point.y().expect("a coordinate"));
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

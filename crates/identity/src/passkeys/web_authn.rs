//! Checks what authenticators send (WebAuthn). The library draws the challenges with a generator of its own.

use std::ops::RangeInclusive;

use postgres::StoreError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use url::Url;
use webauthn_rs::prelude::{
    AuthenticationResult, Passkey, PasskeyAuthentication, PasskeyRegistration, PublicKeyCredential,
    RegisterPublicKeyCredential, Uuid, Webauthn, WebauthnBuilder, WebauthnError,
};

use super::passkey::{CEREMONY_LASTS, PasskeySite};
use crate::accounts::Account;

/// In bytes, as the standard has it.
const CREDENTIAL_ID: RangeInclusive<usize> = 1..=1_023;
/// In bytes of JSON.
const CREDENTIAL_MAX: usize = 4_096;

/// The sites of users and of the operator's staff.
pub struct Passkeys {
    portal: Option<Site>,
    console: Option<Site>,
}

/// `None` in [`Passkeys`] if browsers offer no passkeys at the address.
struct Site {
    origin: String,
    webauthn: Webauthn,
}

/// A new credential, as the browser sends it.
pub struct Attestation(RegisterPublicKeyCredential);

/// A signed challenge, as the browser sends it.
pub struct Assertion(PublicKeyCredential);

/// What the browser gets, and what stays here until it answers.
pub struct StartedCeremony {
    pub options: Value,
    pub state: Value,
}

pub struct VerifiedPasskey {
    pub credential_id: Vec<u8>,
    pub credential: Value,
}

/// The result of a valid signature.
pub struct VerifiedUse(AuthenticationResult);

#[derive(Debug, thiserror::Error)]
pub enum PasskeyError {
    #[error("passkeys need a domain name in the public URL")]
    Unavailable,
    #[error("the answer of the authenticator is refused: {0}")]
    Refused(WebauthnError),
    #[error("a ceremony cannot begin: {0}")]
    Library(WebauthnError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Passkeys {
    pub fn new(brand: &str, portal: &Url, console: &Url) -> anyhow::Result<Self> {
        Ok(Self { portal: Site::new(brand, portal)?, console: Site::new(brand, console)? })
    }

    /// The origin of the pages that can use the account's passkeys. `None` if none can.
    pub fn origin(&self, account: Account) -> Option<&str> {
        self.site(account).ok().map(|site| site.origin.as_str())
    }

    fn site(&self, account: Account) -> Result<&Site, PasskeyError> {
        let site = match account {
            Account::User(_) => &self.portal,
            Account::Staff(_) => &self.console,
        };
        site.as_ref().ok_or(PasskeyError::Unavailable)
    }

    pub fn start_registration(
        &self,
        account: Account,
        email: &str,
        existing: Vec<Value>,
    ) -> Result<StartedCeremony, PasskeyError> {
        let existing: Vec<Passkey> = read_all(existing)?;
        let known = existing.iter().map(|passkey| passkey.cred_id().clone()).collect();
        let webauthn = &self.site(account)?.webauthn;
        let started = webauthn.start_passkey_registration(handle(account), email, email, Some(known));
        let (options, state) = started.map_err(PasskeyError::Library)?;
        Ok(StartedCeremony { options: public_key(write(&options)?), state: write(&state)? })
    }

    pub fn finish_registration(
        &self,
        account: Account,
        attestation: &Attestation,
        state: Value,
    ) -> Result<VerifiedPasskey, PasskeyError> {
        let state: PasskeyRegistration = read(state)?;
        let finished = self.site(account)?.webauthn.finish_passkey_registration(&attestation.0, &state);
        let passkey = finished.map_err(PasskeyError::Refused)?;
        let (credential_id, credential) = (passkey.cred_id().to_vec(), write(&passkey)?);
        // Each challenge contains a copy. Certificates that nobody asked for would make it large.
        let is_small = credential.to_string().len() <= CREDENTIAL_MAX;
        if !CREDENTIAL_ID.contains(&credential_id.len()) || !is_small {
            return Err(PasskeyError::Refused(WebauthnError::AttestationNotSupported));
        }
        Ok(VerifiedPasskey { credential_id, credential })
    }

    pub fn start_authentication(
        &self,
        account: Account,
        credentials: Vec<Value>,
    ) -> Result<StartedCeremony, PasskeyError> {
        let passkeys: Vec<Passkey> = read_all(credentials)?;
        let started = self.site(account)?.webauthn.start_passkey_authentication(&passkeys);
        let (options, state) = started.map_err(PasskeyError::Library)?;
        Ok(StartedCeremony { options: public_key(write(&options)?), state: write(&state)? })
    }

    pub fn finish_authentication(
        &self,
        account: Account,
        assertion: &Assertion,
        state: Value,
    ) -> Result<VerifiedUse, PasskeyError> {
        let state: PasskeyAuthentication = read(state)?;
        let finished = self.site(account)?.webauthn.finish_passkey_authentication(&assertion.0, &state);
        let result = finished.map_err(PasskeyError::Refused)?;
        // The library demands it already: it asked the authenticator for it.
        if !result.user_verified() {
            return Err(PasskeyError::Refused(WebauthnError::UserNotVerified));
        }
        Ok(VerifiedUse(result))
    }
}

impl Site {
    fn new(brand: &str, url: &Url) -> anyhow::Result<Option<Self>> {
        let Some(party) = PasskeySite::of(url) else { return Ok(None) };
        let webauthn = WebauthnBuilder::new(&party.id, &party.origin)?
            .rp_name(brand)
            .timeout(CEREMONY_LASTS.to_std()?)
            .build()?;
        Ok(Some(Self { origin: party.origin.origin().ascii_serialization(), webauthn }))
    }
}

impl Attestation {
    /// `None` if no browser sends this.
    pub fn parse(body: &Value) -> Option<Self> {
        RegisterPublicKeyCredential::deserialize(body).ok().map(Self)
    }
}

impl Assertion {
    /// `None` if no browser sends this.
    pub fn parse(body: &Value) -> Option<Self> {
        PublicKeyCredential::deserialize(body).ok().map(Self)
    }
}

impl VerifiedUse {
    pub fn credential_id(&self) -> &[u8] {
        self.0.cred_id()
    }

    /// 0 if the authenticator does not count.
    pub fn sign_count(&self) -> i64 {
        self.0.counter().into()
    }

    /// The stored credential after this use.
    pub fn update(&self, stored: Value) -> Result<Value, StoreError> {
        let mut passkey: Passkey = read(stored)?;
        passkey.update_credential(&self.0);
        write(&passkey)
    }
}

/// The user handle. Authenticators store it, so it must name nobody.
fn handle(account: Account) -> Uuid {
    let [first @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _]: [u8; 32] =
        Sha256::digest(format!("passkeys:{}", account.id())).into();
    Uuid::from_bytes(first)
}

/// The library wraps the options as `navigator.credentials` takes them; its JSON helpers take the inside.
fn public_key(mut options: Value) -> Value {
    options["publicKey"].take()
}

fn read_all<T: DeserializeOwned>(values: Vec<Value>) -> Result<Vec<T>, StoreError> {
    values.into_iter().map(read).collect()
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, StoreError> {
    serde_json::from_value(value).map_err(|_| StoreError::Corrupt("a passkey cannot be read".to_owned()))
}

fn write(value: &impl Serialize) -> Result<Value, StoreError> {
    serde_json::to_value(value).map_err(|_| StoreError::Corrupt("a passkey cannot be written".to_owned()))
}

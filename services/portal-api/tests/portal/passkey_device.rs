//! Passkeys of a software authenticator, and the calls of each part that concern them.

use serde_json::{Value, json};
use test_kit::PasskeyDevice;

use crate::authenticator::{enrol, enrol_at};
use crate::client::{Answer, Client};
use crate::portal::Portal;

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

impl Portal {
    /// One at addresses where browsers offer passkeys.
    pub(crate) async fn with_passkeys(more: &[(&str, &str)]) -> Self {
        let addresses =
            [("WAYBILL_PUBLIC__URL", PORTAL_ORIGIN), ("WAYBILL_PUBLIC__CONSOLE_URL", CONSOLE_ORIGIN)];
        Self::with_factors(&[&addresses, more].concat()).await
    }

    /// An owner with an authenticator app and a passkey.
    pub(crate) async fn owner_with_passkey(&self, email: &str) -> (Client, PasskeyDevice) {
        let mut owner = self.owner(email).await.client;
        enrol(self, &mut owner).await;
        let device = add_device(&mut owner, PORTAL).await;
        (owner, device)
    }

    /// A person of the staff with an authenticator app and a passkey, and their id.
    pub(crate) async fn person_with_passkey(
        &self,
        email: &str,
        role: &str,
    ) -> (Client, PasskeyDevice, String) {
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
pub(crate) async fn add(client: &mut Client, part: Part, device: &mut PasskeyDevice, name: &str) -> Answer {
    let options = creation_options(client, part).await;
    let passkey = device.create(&options);
    client.post(part.passkeys, json!({ "name": name, "passkey": passkey })).await
}

async fn add_device(client: &mut Client, part: Part) -> PasskeyDevice {
    let mut device = PasskeyDevice::at(part.origin);
    let added = add(client, part, &mut device, "Laptop").await;
    assert_eq!(added.status, 201, "{added:?}");
    device
}

/// Completes a log-in with the passkey of this device.
pub(crate) async fn complete(client: &mut Client, part: Part, device: &mut PasskeyDevice) -> Answer {
    let options = log_in_options(client, part).await;
    let passkey = device.sign(&options);
    client.post(part.step, json!({ "passkey": passkey })).await
}

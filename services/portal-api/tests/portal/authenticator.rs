//! An authenticator app, and accounts that use it.

use chrono::TimeDelta;
use serde_json::{Value, json};
use test_kit::Authenticator;

use crate::client::{Answer, Client};
use crate::portal::Portal;

pub(crate) const SESSION: &str = "/v1/portal/session";
pub(crate) const SECOND_STEP: &str = "/v1/portal/session/second-factor";
pub(crate) const FACTOR: &str = "/v1/portal/second-factor";
pub(crate) const MFA_KEY: (&str, &str) = ("WAYBILL_MFA__KEY", "local-key-of-the-tests");
/// The length of the periods in which codes are valid.
pub(crate) const STEP: TimeDelta = Authenticator::STEP;

/// A second factor that is turned on.
pub(crate) struct Enrolled {
    pub(crate) app: Authenticator,
    pub(crate) recovery_codes: Vec<String>,
}

impl Portal {
    /// One where people can set up second factors.
    pub(crate) async fn with_factors(more: &[(&str, &str)]) -> Self {
        Self::with(&[&[("WAYBILL_LIMITS__PER_ADDRESS", "false"), MFA_KEY], more].concat()).await
    }
}

/// Turns on the second factor at this path. Afterwards, the present code of the app is not used yet.
pub(crate) async fn enrol_at(portal: &Portal, client: &mut Client, factor: &str) -> Enrolled {
    let started = client.press(factor).await;
    assert_eq!(started.status, 201, "{started:?}");
    let app = Authenticator::new(started.body["secret"].as_str().unwrap());
    let confirmed = client.post(&format!("{factor}/confirm"), code(&app.now(&portal.clock))).await;
    assert_eq!(confirmed.status, 200, "{confirmed:?}");
    portal.clock.advance(STEP);
    Enrolled { app, recovery_codes: recovery_codes(&confirmed) }
}

pub(crate) async fn enrol(portal: &Portal, client: &mut Client) -> Enrolled {
    enrol_at(portal, client, FACTOR).await
}

pub(crate) fn recovery_codes(answer: &Answer) -> Vec<String> {
    let codes = answer.body["recoveryCodes"].as_array().unwrap_or_else(|| panic!("{answer:?}"));
    codes.iter().map(|code| code.as_str().unwrap().to_owned()).collect()
}

pub(crate) fn code(code: &str) -> Value {
    json!({ "code": code })
}

/// A visitor who has entered the right password of an account with a second factor.
pub(crate) async fn challenged(portal: &Portal, email: &str) -> Client {
    let mut visitor = portal.stranger();
    let answer = visitor.post(SESSION, json!({ "email": email, "password": "correct horse" })).await;
    assert_eq!((answer.status, &answer.body["mfaRequired"]), (202, &json!(true)), "{answer:?}");
    visitor
}

//! An authenticator app (RFC 6238).

use chrono::{DateTime, TimeDelta, Utc};
use domain::Clock;
use totp_rs::{Builder, Secret, Totp};

pub struct Authenticator(Totp);

impl Authenticator {
    /// The length of the periods in which codes are valid.
    pub const STEP: TimeDelta = TimeDelta::seconds(30);

    /// With the secret in Base32, as people type it into the app.
    pub fn new(secret: &str) -> Self {
        let secret = Secret::try_from_base32(secret).expect("a secret");
        Self(Builder::new().with_secret(secret).with_account_name("account").build().expect("an app"))
    }

    pub fn at(&self, time: DateTime<Utc>) -> String {
        self.0.generate(time.timestamp().try_into().expect("a time after 1970")).to_string()
    }

    pub fn now(&self, clock: &Clock) -> String {
        self.at(clock.now())
    }

    /// Six digits that are no code of these minutes.
    pub fn wrong(&self, clock: &Clock) -> String {
        let near: Vec<String> = (-3..=3).map(|steps| self.at(clock.now() + Self::STEP * steps)).collect();
        let mut codes = (0..10).map(|digit: u8| digit.to_string().repeat(6));
        codes.find(|code| !near.contains(code)).expect("more codes than periods")
    }
}

//! Accounts with an authenticator app, recovery codes, and passkeys.

use domain::PasskeyId;
use identity::Account;
use identity::passkeys::{Assertion, Attestation, CeremonyKey, CeremonyPurpose, Passkeys};
use identity::second_factors::{
    CheckedAnswer, FactorAnswer, FactorCode, FactorError, FactorSecrets, Factors, Proof,
};
use serde_json::Value;
use settings::Secret;
use test_kit::{Authenticator, PasskeyDevice};

use crate::world::{EMAIL, World};

pub(crate) const KEY: &str = "a key of the tests";
/// What a challenge for a passkey belongs to.
pub(crate) const HOLDER: &str = "a session";

pub(crate) struct Enrolled {
    pub(crate) app: Authenticator,
    pub(crate) codes: Vec<String>,
}

/// The origin of the pages of the account's realm.
pub(crate) fn origin(account: Account) -> &'static str {
    match account {
        Account::User(_) => "https://portal.test",
        Account::Staff(_) => "https://console.test",
    }
}

pub(crate) fn ceremony(purpose: CeremonyPurpose) -> CeremonyKey {
    CeremonyKey::new(purpose, HOLDER)
}

impl World {
    pub(crate) fn factors(&self) -> Factors {
        self.factors_with(Some(KEY), None)
    }

    pub(crate) fn factors_with(&self, key: Option<&str>, previous: Option<&str>) -> Factors {
        let (key, previous) = (key.map(Secret::new), previous.map(Secret::new));
        let secrets = FactorSecrets::new((key.as_ref(), previous.as_ref())).unwrap();
        let [portal, console] =
            ["https://portal.test", "https://console.test"].map(|url| url.parse().unwrap());
        let passkeys = Passkeys::new("Waybill", &portal, &console).unwrap();
        Factors::new(self.clock.clone(), self.entropy.clone(), secrets, passkeys)
    }

    /// Turns on the second factor. Afterwards, the present code of the app is not used yet.
    pub(crate) async fn enrol(&mut self, account: Account) -> Enrolled {
        let factors = self.factors();
        let secret = factors.begin_enrolment(&mut self.conn, account).await.unwrap();
        let app = Authenticator::new(&secret.expose());
        let codes = factors.confirm_enrolment(&mut self.conn, account, &app.now(&self.clock)).await.unwrap();
        self.clock.advance(Authenticator::STEP);
        Enrolled { app, codes: codes.iter().map(identity::second_factors::RecoveryCode::expose).collect() }
    }

    pub(crate) async fn prove(&mut self, account: Account, code: &str) -> Result<Proof, FactorError> {
        let code = FactorCode::parse(code).unwrap();
        self.factors().accept(&mut self.conn, account, &CheckedAnswer::Code(&code)).await
    }

    /// Whether the code is refused as a wrong one.
    pub(crate) async fn refuses(&mut self, account: Account, code: &str) -> bool {
        matches!(self.prove(account, code).await, Err(FactorError::WrongCode))
    }

    /// Turns on the second factor, and adds a passkey.
    pub(crate) async fn with_passkey(&mut self, account: Account) -> (Enrolled, PasskeyDevice, PasskeyId) {
        let enrolled = self.enrol(account).await;
        let mut device = PasskeyDevice::at(origin(account));
        let id = self.add(account, &mut device).await.unwrap();
        (enrolled, device, id)
    }

    pub(crate) async fn creation_options(&mut self, account: Account) -> Result<Value, FactorError> {
        let key = ceremony(CeremonyPurpose::Add);
        self.factors().begin_passkey(&mut self.conn, (account, EMAIL), key).await
    }

    pub(crate) async fn add(
        &mut self,
        account: Account,
        device: &mut PasskeyDevice,
    ) -> Result<PasskeyId, FactorError> {
        let options = self.creation_options(account).await?;
        self.finish_adding(account, &device.create(&options)).await
    }

    pub(crate) async fn finish_adding(
        &mut self,
        account: Account,
        made: &Value,
    ) -> Result<PasskeyId, FactorError> {
        let (factors, key) = (self.factors(), ceremony(CeremonyPurpose::Add));
        let made = Attestation::parse(made).unwrap();
        let verified = factors.verify_passkey(&mut self.conn, account, &made, key).await?;
        Ok(factors.add_passkey(&mut self.conn, account, ("Laptop", &verified)).await?.id)
    }

    /// The options of a log-in.
    pub(crate) async fn options(&mut self, account: Account) -> Result<Value, FactorError> {
        self.factors().ask_for_passkey(&mut self.conn, account, ceremony(CeremonyPurpose::LogIn)).await
    }

    pub(crate) async fn answer(&mut self, account: Account, signed: &Value) -> Result<Proof, FactorError> {
        self.answer_to(account, signed, ceremony(CeremonyPurpose::LogIn)).await
    }

    pub(crate) async fn answer_to(
        &mut self,
        account: Account,
        signed: &Value,
        key: CeremonyKey,
    ) -> Result<Proof, FactorError> {
        let factors = self.factors();
        let answer = FactorAnswer::Passkey(Box::new(Assertion::parse(signed).unwrap()));
        let checked = factors.check(&mut self.conn, account, &answer, key).await?;
        factors.accept(&mut self.conn, account, &checked).await
    }

    /// Signs new options, and proves the second factor with the result.
    pub(crate) async fn sign(
        &mut self,
        account: Account,
        device: &mut PasskeyDevice,
    ) -> Result<Proof, FactorError> {
        let options = self.options(account).await?;
        self.answer(account, &device.sign(&options)).await
    }
}

//! The policy of second factors, and the encryption of their secrets.

mod vault;

use chrono::TimeDelta;
use domain::Entropy;
use settings::Secret;

use crate::domain::{FactorSecret, OperatorRole, Role};
pub(crate) use vault::{Vault, VaultError};

/// Separates the keys from those of other uses of the same secret.
const PURPOSE: &str = "waybill secrets of second factors";

/// The settings of second factors and of recent authentication.
pub(crate) struct SecondFactors {
    /// `None` without a key: then nobody can enrol.
    vault: Option<Vault>,
    required_for_users: Vec<Role>,
    required_for_staff: Vec<OperatorRole>,
    /// How long after an authentication sensitive calls are allowed. `None` is no limit.
    pub(crate) recent_within: Option<TimeDelta>,
}

impl SecondFactors {
    pub(crate) fn new(
        keys: (Option<&Secret>, Option<&Secret>),
        required_for_users: Vec<Role>,
        required_for_staff: Vec<OperatorRole>,
        recent_within: Option<TimeDelta>,
    ) -> anyhow::Result<Self> {
        let vault = Vault::new(keys, PURPOSE)?;
        Ok(Self { vault, required_for_users, required_for_staff, recent_within })
    }

    /// Whether people can enrol.
    pub(crate) fn is_available(&self) -> bool {
        self.vault.is_some()
    }

    pub(crate) fn requires_user(&self, role: Role) -> bool {
        self.required_for_users.contains(&role)
    }

    pub(crate) fn requires_staff(&self, role: OperatorRole) -> bool {
        self.required_for_staff.contains(&role)
    }

    /// Encrypts with the present key. The binding is the account's id.
    pub(crate) fn seal(
        &self,
        binding: &str,
        secret: &FactorSecret,
        entropy: &Entropy,
    ) -> Result<Vec<u8>, VaultError> {
        let vault = self.vault.as_ref().ok_or(VaultError)?;
        vault.seal(binding, &secret.expose(), entropy)
    }

    /// Decrypts with the present key or the previous one.
    pub(crate) fn open(&self, binding: &str, sealed: &[u8]) -> Result<FactorSecret, VaultError> {
        let vault = self.vault.as_ref().ok_or(VaultError)?;
        FactorSecret::parse(&vault.open(binding, sealed)?).ok_or(VaultError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(key: Option<&str>, previous: Option<&str>) -> SecondFactors {
        let (key, previous) = (key.map(Secret::new), previous.map(Secret::new));
        SecondFactors::new((key.as_ref(), previous.as_ref()), Vec::new(), Vec::new(), None).unwrap()
    }

    #[test]
    fn a_secret_opens_for_its_account_with_the_present_or_the_previous_key() {
        let (account, other) = ("stf_01ARZ3NDEKTSV4RRFFQ69G5FAV", "stf_01ARZ3NDEKTSV4RRFFQ69G5FAW");
        let entropy = Entropy::seeded(1);
        let secret = FactorSecret::generate(&entropy);
        let sealed = with(Some("the first key"), None).seal(account, &secret, &entropy).unwrap();
        for (key, previous, opens) in [
            (Some("the first key"), None, true),
            (Some("the next key"), Some("the first key"), true),
            (Some("the next key"), None, false),
            (None, None, false),
        ] {
            let factors = with(key, previous);
            assert_eq!(factors.open(account, &sealed).is_ok(), opens, "{key:?} {previous:?}");
            assert!(factors.open(other, &sealed).is_err(), "bound to its account");
        }
        assert!(with(None, None).seal(account, &secret, &entropy).is_err());
    }
}

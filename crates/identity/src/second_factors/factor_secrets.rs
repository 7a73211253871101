//! Encrypts the secrets that the service shares with authenticator apps.

use domain::Entropy;
use settings::Secret;

use super::codes::FactorSecret;
use crate::secrets::{Vault, VaultError};

/// Separates the keys from those of other uses of the same secret.
const PURPOSE: &str = "waybill secrets of second factors";

/// Without a key, nobody can enrol.
pub struct FactorSecrets(Option<Vault>);

impl FactorSecrets {
    /// # Errors
    /// When no key can be derived.
    pub fn new(keys: (Option<&Secret>, Option<&Secret>)) -> anyhow::Result<Self> {
        Ok(Self(Vault::new(keys, PURPOSE)?))
    }

    /// Whether people can enrol.
    pub fn is_available(&self) -> bool {
        self.0.is_some()
    }

    /// Encrypts with the present key. The binding is the account's id.
    pub fn seal(
        &self,
        binding: &str,
        secret: &FactorSecret,
        entropy: &Entropy,
    ) -> Result<Vec<u8>, VaultError> {
        let vault = self.0.as_ref().ok_or(VaultError)?;
        vault.seal(binding, &secret.expose(), entropy)
    }

    /// Decrypts with the present key or the previous one.
    pub fn open(&self, binding: &str, sealed: &[u8]) -> Result<FactorSecret, VaultError> {
        let vault = self.0.as_ref().ok_or(VaultError)?;
        FactorSecret::parse(&vault.open(binding, sealed)?).ok_or(VaultError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(key: Option<&str>, previous: Option<&str>) -> FactorSecrets {
        let (key, previous) = (key.map(Secret::new), previous.map(Secret::new));
        FactorSecrets::new((key.as_ref(), previous.as_ref())).unwrap()
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

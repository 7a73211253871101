//! Hashing and checking passwords with argon2id, on threads of their own and few at a time: each costs tens of
//! milliseconds of a core and 19 MiB, and must never starve the rest of the service.

use std::sync::Arc;
use std::time::Duration;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use domain::Entropy;
use tokio::runtime::Handle;

use crate::domain::Password;
use crate::turns::{Turns, Who};

const AT_ONCE: usize = 2;
const QUEUE_MAX: usize = 64;
const WAIT_MAX: Duration = Duration::from_secs(5);
const SALT_BYTES: usize = 16;

#[derive(Clone)]
pub(crate) struct Passwords {
    threads: Handle,
    turns: Turns,
    entropy: Entropy,
    /// Checked when there is no account, so that the time it takes tells nothing.
    nobodys: Arc<str>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum PasswordError {
    #[error("too many passwords are being checked already")]
    Busy,
    #[error("a password cannot be hashed: {0}")]
    Failed(String),
}

impl Passwords {
    /// On the runtime that this is called on.
    ///
    /// # Errors
    /// When a password cannot be hashed at all.
    pub(crate) fn start(entropy: Entropy) -> Result<Self, PasswordError> {
        let nobodys = hash(&entropy.bytes::<32>(), &entropy.bytes::<SALT_BYTES>())?;
        Ok(Self {
            threads: Handle::current(),
            turns: Turns::new(AT_ONCE, QUEUE_MAX),
            entropy,
            nobodys: nobodys.into(),
        })
    }

    /// The PHC string (`$argon2id$…`) to keep.
    pub(crate) async fn hash(&self, password: &Password, who: Who) -> Result<String, PasswordError> {
        let password = password.clone();
        let salt = self.entropy.bytes::<SALT_BYTES>();
        self.run(who, move || hash(password.as_bytes(), &salt)).await?
    }

    /// Whether the password is the account's; without an account the same work is done for nothing.
    pub(crate) async fn verify(
        &self,
        password: &Password,
        account: Option<&str>,
        who: Who,
    ) -> Result<bool, PasswordError> {
        let password = password.clone();
        let exists = account.is_some();
        let kept: Arc<str> = account.map_or_else(|| self.nobodys.clone(), Arc::from);
        let matches = self.run(who, move || verify(password.as_bytes(), &kept)).await??;
        Ok(exists && matches)
    }

    /// A caller that goes away ends its turn only when its work is done.
    async fn run<T: Send + 'static>(
        &self,
        who: Who,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PasswordError> {
        let turn = tokio::time::timeout(WAIT_MAX, self.turns.take(who)).await;
        let Ok(Ok(turn)) = turn else { return Err(PasswordError::Busy) };
        let work = move || {
            let outcome = work();
            drop(turn);
            outcome
        };
        self.threads.spawn_blocking(work).await.map_err(|error| PasswordError::Failed(error.to_string()))
    }
}

fn hash(password: &[u8], salt: &[u8]) -> Result<String, PasswordError> {
    let hash: PasswordHash =
        Argon2::default().hash_password_with_salt(password, salt).map_err(|error| failed(&error))?;
    Ok(hash.to_string())
}

fn verify(password: &[u8], kept: &str) -> Result<bool, PasswordError> {
    let kept = PasswordHash::new(kept).map_err(|error| PasswordError::Failed(error.to_string()))?;
    match Argon2::default().verify_password(password, &kept) {
        Ok(()) => Ok(true),
        Err(argon2::password_hash::Error::PasswordInvalid) => Ok(false),
        Err(error) => Err(failed(&error)),
    }
}

fn failed(error: &argon2::password_hash::Error) -> PasswordError {
    PasswordError::Failed(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who() -> Who {
        Who { address: String::new(), account: String::new() }
    }

    #[tokio::test]
    async fn a_password_opens_its_own_account_alone() {
        let passwords = Passwords::start(Entropy::seeded(1)).unwrap();
        let good = Password::typed("correct horse");
        let kept = passwords.hash(&good, who()).await.unwrap();
        assert!(kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{kept}");
        assert!(passwords.verify(&good, Some(&kept), who()).await.unwrap());
        assert!(!passwords.verify(&Password::typed("correct horsf"), Some(&kept), who()).await.unwrap());
        assert!(!passwords.verify(&good, None, who()).await.unwrap());
        assert_ne!(kept, passwords.hash(&good, who()).await.unwrap(), "each hash has a salt of its own");
    }

    #[tokio::test]
    async fn a_damaged_hash_is_a_fault_and_no_wrong_password() {
        let passwords = Passwords::start(Entropy::seeded(1)).unwrap();
        let outcome = passwords.verify(&Password::typed("x"), Some("nonsense"), who()).await;
        assert!(matches!(outcome, Err(PasswordError::Failed(_))));
    }
}

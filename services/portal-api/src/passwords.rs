//! Hashing and checking passwords with argon2id, on threads of their own and few at a time: each costs tens of
//! milliseconds of a core and 19 MiB, and must never starve the rest of the service.

use std::sync::Arc;
use std::time::Duration;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use domain::Entropy;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::domain::Password;

const AT_ONCE: usize = 2;
const QUEUE_MAX: usize = 64;
const WAIT_MAX: Duration = Duration::from_secs(5);
const SALT_BYTES: usize = 16;

#[derive(Clone)]
pub(crate) struct Passwords {
    threads: Handle,
    slots: Arc<Semaphore>,
    queue: Arc<Semaphore>,
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
            slots: Arc::new(Semaphore::new(AT_ONCE)),
            queue: Arc::new(Semaphore::new(QUEUE_MAX)),
            entropy,
            nobodys: nobodys.into(),
        })
    }

    /// The PHC string (`$argon2id$…`) to keep.
    pub(crate) async fn hash(&self, password: &Password) -> Result<String, PasswordError> {
        let password = password.clone();
        let salt = self.entropy.bytes::<SALT_BYTES>();
        self.run(move || hash(password.as_bytes(), &salt)).await?
    }

    /// Whether the password is the account's; without an account the same work is done for nothing.
    pub(crate) async fn verify(
        &self,
        password: &Password,
        account: Option<&str>,
    ) -> Result<bool, PasswordError> {
        let password = password.clone();
        let exists = account.is_some();
        let kept: Arc<str> = account.map_or_else(|| self.nobodys.clone(), Arc::from);
        let matches = self.run(move || verify(password.as_bytes(), &kept)).await??;
        Ok(exists && matches)
    }

    /// A caller that goes away frees its slot only when its work is done.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PasswordError> {
        let place = self.queue.clone().try_acquire_owned().map_err(|_| PasswordError::Busy)?;
        let slot = tokio::time::timeout(WAIT_MAX, self.slots.clone().acquire_owned()).await;
        let Ok(Ok(slot)) = slot else { return Err(PasswordError::Busy) };
        let work = move || {
            let outcome = work();
            drop((slot, place));
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

    #[tokio::test]
    async fn a_password_opens_its_own_account_alone() {
        let passwords = Passwords::start(Entropy::seeded(1)).unwrap();
        let good = Password::typed("correct horse");
        let kept = passwords.hash(&good).await.unwrap();
        assert!(kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{kept}");
        assert!(passwords.verify(&good, Some(&kept)).await.unwrap());
        assert!(!passwords.verify(&Password::typed("correct horsf"), Some(&kept)).await.unwrap());
        assert!(!passwords.verify(&good, None).await.unwrap());
        assert_ne!(kept, passwords.hash(&good).await.unwrap(), "each hash has a salt of its own");
    }

    #[tokio::test]
    async fn a_damaged_hash_is_a_fault_and_no_wrong_password() {
        let passwords = Passwords::start(Entropy::seeded(1)).unwrap();
        let outcome = passwords.verify(&Password::typed("x"), Some("nonsense")).await;
        assert!(matches!(outcome, Err(PasswordError::Failed(_))));
    }
}

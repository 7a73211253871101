//! Hashes and verifies passwords with argon2id. Each operation takes tens of milliseconds of CPU time and 19 MiB, so that
//! only a few run at once, on blocking threads.

mod password;

use std::sync::Arc;
use std::time::Duration;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use domain::Entropy;
use web::{FairSlots, NoFreeSlot};

pub use password::{Password, PasswordRejection};

const PARALLEL: usize = 2;
/// For each of the two queues of a stranger, and for the one of everybody else.
const WAIT_MAX: Duration = Duration::from_secs(5);
const SALT_BYTES: usize = 16;

/// Who waits for the result. Each waits at most once in the queue of its class, so that nobody delays another one by more than
/// one password.
#[derive(Clone)]
pub enum Requester {
    /// Named by the account that its session, its link or its known browser belongs to, or by an address of a recent log-in.
    Known(String),
    /// Named by the address; empty if that is unknown.
    Stranger(String),
}

#[derive(Clone)]
pub struct Passwords {
    /// Of each known requester, and `None` for the strangers, who thus use one slot: a flood from many addresses leaves the other.
    slots: Arc<FairSlots<Option<String>>>,
    /// The queue of the strangers, by address.
    strangers: Arc<FairSlots<String>>,
    entropy: Entropy,
    /// Verified when the account does not exist, so that the response time does not reveal this.
    decoy_hash: Arc<str>,
}

#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    #[error("too many passwords wait")]
    Busy,
    #[error("cannot hash or verify a password: {0}")]
    Failed(String),
}

impl From<NoFreeSlot> for PasswordError {
    fn from(NoFreeSlot: NoFreeSlot) -> Self {
        Self::Busy
    }
}

impl Passwords {
    /// # Errors
    /// When hashing does not work at all.
    pub fn new(entropy: Entropy) -> Result<Self, PasswordError> {
        let decoy_hash = hash(&entropy.bytes::<32>(), &entropy.bytes::<SALT_BYTES>())?;
        Ok(Self {
            slots: Arc::new(FairSlots::new(PARALLEL, 1).with_patience(WAIT_MAX)),
            strangers: Arc::new(FairSlots::new(1, 1).with_patience(WAIT_MAX)),
            entropy,
            decoy_hash: decoy_hash.into(),
        })
    }

    /// Returns the hash as a PHC string (`$argon2id$…`).
    pub async fn hash(&self, password: &Password, requester: Requester) -> Result<String, PasswordError> {
        let password = password.clone();
        let salt = self.entropy.bytes::<SALT_BYTES>();
        self.run(requester, move || hash(password.as_bytes(), &salt)).await?
    }

    /// Whether the password matches the hash. Without a hash it does the same work and returns false.
    pub async fn verify(
        &self,
        password: &Password,
        stored_hash: Option<&str>,
        requester: Requester,
    ) -> Result<bool, PasswordError> {
        let password = password.clone();
        let exists = stored_hash.is_some();
        let hash: Arc<str> = stored_hash.map_or_else(|| self.decoy_hash.clone(), Arc::from);
        let matches = self.run(requester, move || verify(password.as_bytes(), &hash)).await??;
        Ok(exists && matches)
    }

    /// The work keeps its slot until it ends, even if the caller disconnects.
    async fn run<T: Send + 'static>(
        &self,
        requester: Requester,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PasswordError> {
        let (turn, known) = match requester {
            Requester::Known(name) => (None, Some(name)),
            Requester::Stranger(address) => (Some(self.strangers.enter(address).await?), None),
        };
        let slot = self.slots.enter(known).await?;
        let work = move || {
            let outcome = work();
            drop((slot, turn));
            outcome
        };
        tokio::task::spawn_blocking(work).await.map_err(|error| PasswordError::Failed(error.to_string()))
    }
}

fn hash(password: &[u8], salt: &[u8]) -> Result<String, PasswordError> {
    let hash: PasswordHash =
        Argon2::default().hash_password_with_salt(password, salt).map_err(|error| failed(&error))?;
    Ok(hash.to_string())
}

fn verify(password: &[u8], hash: &str) -> Result<bool, PasswordError> {
    let hash = PasswordHash::new(hash).map_err(|error| PasswordError::Failed(error.to_string()))?;
    match Argon2::default().verify_password(password, &hash) {
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
    use std::sync::{Mutex, mpsc};

    use futures_util::FutureExt;
    use tokio::sync::oneshot;

    use super::*;

    fn requester() -> Requester {
        Requester::Known(String::new())
    }

    #[tokio::test]
    async fn strangers_use_one_slot_and_take_turns_by_address() {
        let passwords = Passwords::new(Entropy::seeded(1)).unwrap();
        let stranger = |address: &str| Requester::Stranger(address.to_owned());
        let (begun, begins) = oneshot::channel();
        let (end, ends) = mpsc::channel::<()>();
        let slow = passwords.clone();
        let running = tokio::spawn(async move {
            slow.run(Requester::Stranger("a".to_owned()), move || {
                begun.send(()).unwrap();
                ends.recv().unwrap();
            })
            .await
        });
        begins.await.unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let work = |name| {
            let order = order.clone();
            move || order.lock().unwrap().push(name)
        };
        let mut again = Box::pin(passwords.run(stranger("a"), work("a")));
        let mut other = Box::pin(passwords.run(stranger("b"), work("b")));
        assert!(again.as_mut().now_or_never().is_none() && other.as_mut().now_or_never().is_none());
        for known in ["owner", "another"] {
            assert_eq!(
                passwords.run(Requester::Known(known.to_owned()), move || known).await.unwrap(),
                known
            );
        }
        end.send(()).unwrap();
        running.await.unwrap().unwrap();
        tokio::try_join!(again, other).unwrap();
        assert_eq!(
            *order.lock().unwrap(),
            ["b", "a"],
            "it waited less long, but its address had no turn yet"
        );
    }

    #[tokio::test]
    async fn a_password_matches_only_its_own_hash() {
        let passwords = Passwords::new(Entropy::seeded(1)).unwrap();
        let good = Password::entered("correct horse");
        let hash = passwords.hash(&good, requester()).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert!(passwords.verify(&good, Some(&hash), requester()).await.unwrap());
        assert!(
            !passwords.verify(&Password::entered("correct horsf"), Some(&hash), requester()).await.unwrap()
        );
        assert!(!passwords.verify(&good, None, requester()).await.unwrap());
        assert_ne!(hash, passwords.hash(&good, requester()).await.unwrap(), "each hash has its own salt");
    }

    #[tokio::test]
    async fn a_damaged_hash_is_an_error_and_not_a_wrong_password() {
        let passwords = Passwords::new(Entropy::seeded(1)).unwrap();
        let outcome = passwords.verify(&Password::entered("x"), Some("nonsense"), requester()).await;
        assert!(matches!(outcome, Err(PasswordError::Failed(_))));
    }
}

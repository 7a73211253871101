//! Secrets of cookies and links, and the encryption of secrets that must be read again.

mod secret_token;
mod token_cipher;
mod vault;

pub use secret_token::{LinkToken, SecretToken, SessionToken};
pub use vault::{Vault, VaultError};

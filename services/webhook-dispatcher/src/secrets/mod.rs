//! Encrypts signing secrets at rest.

mod cipher;

pub(crate) use cipher::{DecryptError, SecretCipher};

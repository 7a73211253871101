//! Encrypts all signing secrets with the current key. Safe to run alongside the service, to interrupt and to repeat.

use anyhow::Context as _;
use diesel_async::AsyncPgConnection;
use domain::{EndpointId, Entropy};
use postgres::{Database, StoreError};

use crate::domain::{EncryptedSecret, EncryptedSecrets, StagedSecret};
use crate::secrets::{DecryptError, SecretCipher};
use crate::store::{self, EndpointSecrets};

/// Endpoints per transaction.
const BATCH_MAX: i64 = 200;

/// Numbers of endpoints. Each has one or two secrets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rewrapped {
    pub rewrapped: usize,
    pub unreadable: usize,
}

/// # Errors
/// When the database is unreachable. Endpoints of earlier batches stay rewrapped.
pub(crate) async fn rewrap_secrets(database: &Database, cipher: &SecretCipher) -> anyhow::Result<Rewrapped> {
    let entropy = Entropy::from_system().context("the system provides no randomness")?;
    let (mut total, mut after) = (Rewrapped::default(), None::<EndpointId>);
    loop {
        let work = async |conn: &mut AsyncPgConnection| {
            let rows =
                store::lock_secrets_of_other_keys(conn, cipher.current_key_id(), after, BATCH_MAX).await?;
            let mut batch = Rewrapped::default();
            for row in &rows {
                match rewrap(cipher, row, &entropy) {
                    Ok(secrets) => {
                        store::write_secrets(conn, row.business, row.endpoint, &secrets).await?;
                        batch.rewrapped += 1;
                    }
                    Err(_) => batch.unreadable += 1,
                }
            }
            Ok::<_, StoreError>((batch, rows.last().map(|row| row.endpoint)))
        };
        let (batch, last) = database.transaction(work).await?;
        total.rewrapped += batch.rewrapped;
        total.unreadable += batch.unreadable;
        match last {
            Some(last) => after = Some(last),
            None => return Ok(total),
        }
    }
}

fn rewrap(
    cipher: &SecretCipher,
    row: &EndpointSecrets,
    entropy: &Entropy,
) -> Result<EncryptedSecrets, DecryptError> {
    let one = |encrypted: &EncryptedSecret| {
        let rewrapped = cipher.rewrap(row.endpoint, encrypted, entropy)?;
        Ok(rewrapped.unwrap_or_else(|| encrypted.clone()))
    };
    let next = row.secrets.next.as_ref();
    Ok(EncryptedSecrets {
        current: one(&row.secrets.current)?,
        next: next
            .map(|next| Ok(StagedSecret { secret: one(&next.secret)?, from: next.from }))
            .transpose()?,
    })
}

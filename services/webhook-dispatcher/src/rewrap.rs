//! `webhook-dispatcher rewrap`: seals every signing secret with the current key that a previous one still seals. Run
//! beside the service, as often as wanted; what was done stays done when it is interrupted.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context as _;
use diesel_async::AsyncPgConnection;
use domain::{EndpointId, Entropy};
use postgres::{Database, StoreError};

use crate::secrets::{Sealed, SealedSecrets, SecretBox, Staged, Unreadable};
use crate::settings::Settings;
use crate::store::{self, SealedRow};

/// In one transaction.
const BATCH_MAX: i64 = 200;

/// Exit codes.
const DONE: u8 = 0;
const SOME_DO_NOT_OPEN: u8 = 1;
const COULD_NOT: u8 = 2;

/// In endpoints, of which each has one or two secrets.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    rewrapped: usize,
    unreadable: usize,
}

/// Runs the command and prints to `out`.
pub fn main(out: &mut impl Write) -> ExitCode {
    let outcome = chassis::command(async |settings: &Settings| {
        let tally = rewrap(settings).await?;
        writeln!(out, "{} endpoints: their secrets are sealed with the current key now", tally.rewrapped)?;
        if tally.unreadable > 0 {
            writeln!(out, "{} endpoints: no key given opens their secrets", tally.unreadable)?;
            return Ok(SOME_DO_NOT_OPEN);
        }
        writeln!(out, "done: previous keys are needed no more")?;
        Ok(DONE)
    });
    let code = outcome.unwrap_or_else(|error: anyhow::Error| {
        // Where not even this can be written, the exit code still tells.
        let _unheard = writeln!(out, "not done, and may be run again: {error:#}");
        COULD_NOT
    });
    ExitCode::from(code)
}

async fn rewrap(settings: &Settings) -> anyhow::Result<Tally> {
    let entropy = Entropy::from_system().context("the system gives no randomness")?;
    let keys = SecretBox::new(&settings.secrets.key, &settings.secrets.previous_keys)?;
    let database = Database::new(&settings.database)?;
    let (mut tally, mut after) = (Tally::default(), None::<EndpointId>);
    loop {
        let work = async |conn: &mut AsyncPgConnection| {
            let rows = store::lock_sealed_otherwise(conn, keys.current_key_id(), after, BATCH_MAX).await?;
            let mut batch = Tally::default();
            for row in &rows {
                match rewrapped(&keys, row, &entropy) {
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
        tally.rewrapped += batch.rewrapped;
        tally.unreadable += batch.unreadable;
        match last {
            Some(last) => after = Some(last),
            None => return Ok(tally),
        }
    }
}

fn rewrapped(keys: &SecretBox, row: &SealedRow, entropy: &Entropy) -> Result<SealedSecrets, Unreadable> {
    let one = |sealed: &Sealed| {
        let rewrapped = keys.rewrap(row.endpoint, sealed, entropy)?;
        Ok(rewrapped.unwrap_or_else(|| sealed.clone()))
    };
    let next = row.secrets.next.as_ref();
    Ok(SealedSecrets {
        present: one(&row.secrets.present)?,
        next: next.map(|next| Ok(Staged { secret: one(&next.secret)?, from: next.from })).transpose()?,
    })
}

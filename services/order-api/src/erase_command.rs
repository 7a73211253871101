//! `order-api erase-personal-data --business <id> | --order <id> | --before <date or time>`: erases beside the service, with its
//! settings, and prints what it did. What was done stays done when it is interrupted; run it again.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use chrono::{DateTime, NaiveDate, SecondsFormat, Utc};
use domain::{BusinessId, Clock, Entropy, OrderId};
use postgres::{Database, StoreError};

use crate::app::Ambient;
use crate::commands::erase_personal_data::{EraseError, erase_next, erase_order, erase_unchanged};
use crate::domain::BusinessErasure;
use crate::settings::OrderApiSettings;
use crate::store::support;

/// Exit codes.
const DONE: u8 = 0;
const REFUSED: u8 = 1;
const COULD_NOT: u8 = 2;

/// Exactly one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
#[group(required = true, multiple = false)]
pub struct Erasure {
    /// All completed orders of this business
    #[arg(long, value_name = "ID")]
    business: Option<BusinessId>,
    /// This order
    #[arg(long, value_name = "ID")]
    order: Option<OrderId>,
    /// All completed orders that have not changed since this time: 2027-01-31 (midnight UTC) or 2027-01-31T09:30:00Z
    #[arg(long, value_name = "TIME", value_parser = past)]
    before: Option<DateTime<Utc>>,
}

/// Runs the command and prints to `out`.
pub fn main(erasure: Erasure, out: &mut impl Write) -> ExitCode {
    let outcome = chassis::command(async |settings: &OrderApiSettings| erase(settings, erasure, out).await);
    let code = outcome.unwrap_or_else(|error| {
        // If this line cannot be written either, the exit code still reports the failure.
        let _unwritten = writeln!(out, "failed; it is safe to run this again: {error:#}");
        COULD_NOT
    });
    ExitCode::from(code)
}

fn past(text: &str) -> Result<DateTime<Utc>, String> {
    let time = time(text).ok_or("not a date or an RFC 3339 time")?;
    if time > Clock::system().now() { Err("is in the future".into()) } else { Ok(time) }
}

/// A date means midnight UTC.
fn time(text: &str) -> Option<DateTime<Utc>> {
    let midnight = text.parse::<NaiveDate>().ok().and_then(|date| date.and_hms_opt(0, 0, 0));
    midnight.map(|time| time.and_utc()).or_else(|| Some(DateTime::parse_from_rfc3339(text).ok()?.to_utc()))
}

async fn erase(settings: &OrderApiSettings, erasure: Erasure, out: &mut impl Write) -> anyhow::Result<u8> {
    let ambient = Ambient {
        clock: Clock::system(),
        entropy: Entropy::from_system().context("the system gives no randomness")?,
        public_url: settings.public.url.clone(),
    };
    let database = Database::new(&settings.database)?;
    match erasure {
        Erasure { order: Some(id), .. } => of_order(&ambient, &database, id, out).await,
        Erasure { business: Some(business), .. } => of_business(&ambient, &database, business, out).await,
        Erasure { before: Some(before), .. } => unchanged(&ambient, &database, before, out).await,
        // clap requires one of them.
        Erasure { .. } => Ok(REFUSED),
    }
}

async fn of_order(
    ambient: &Ambient,
    database: &Database,
    id: OrderId,
    out: &mut impl Write,
) -> anyhow::Result<u8> {
    let found = database.read(async |conn| support::find_anywhere(conn, &id.to_string(), 1).await).await?;
    let Some(order) = found.first() else {
        writeln!(out, "{id}: there is no such order")?;
        return Ok(REFUSED);
    };
    match erase_order(ambient, database, order.business_id, id).await {
        Ok(order) => {
            let at = order.personal_data_erased_at.map(|at| at.to_rfc3339_opts(SecondsFormat::Secs, true));
            writeln!(out, "{id}: personal data erased at {}", at.unwrap_or_default())?;
            Ok(DONE)
        }
        Err(EraseError::Store(error)) => Err(error.into()),
        Err(refused) => {
            writeln!(out, "{id}: {refused}; nothing was erased")?;
            Ok(REFUSED)
        }
    }
}

async fn of_business(
    ambient: &Ambient,
    database: &Database,
    business: BusinessId,
    out: &mut impl Write,
) -> anyhow::Result<u8> {
    let mut erasure = BusinessErasure::new(business, ambient.clock.now());
    while erasure.completed_at.is_none() {
        let step = async |conn: &mut _| erase_next(ambient, conn, erasure).await;
        erasure = database.transaction::<_, StoreError, _>(step).await?;
    }
    let BusinessErasure { erased, not_completed, .. } = erasure;
    writeln!(out, "{business}: personal data erased of {erased} orders")?;
    writeln!(out, "{business}: {not_completed} orders are not completed and were left as they are")?;
    Ok(DONE)
}

async fn unchanged(
    ambient: &Ambient,
    database: &Database,
    before: DateTime<Utc>,
    out: &mut impl Write,
) -> anyhow::Result<u8> {
    let mut total = 0;
    loop {
        match erase_unchanged(ambient, database, before).await? {
            None => bail!("{total} orders were erased; a running service is erasing at the moment"),
            Some(done) if done.erased == 0 => break,
            Some(done) => total += done.erased,
        }
    }
    let before = before.to_rfc3339_opts(SecondsFormat::Secs, true);
    writeln!(out, "personal data erased of {total} orders that have not changed since {before}")?;
    Ok(DONE)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(Debug, clap::Parser)]
    struct Command {
        #[command(flatten)]
        erasure: Erasure,
    }

    fn read(text: &str) -> Result<Erasure, String> {
        let words = std::iter::once("erase-personal-data").chain(text.split_whitespace());
        Command::try_parse_from(words).map(|command| command.erasure).map_err(|error| error.to_string())
    }

    #[test]
    fn exactly_one_thing_is_named_and_no_future_time() {
        let now = DateTime::UNIX_EPOCH + chrono::TimeDelta::days(20_000);
        let (business, order) = (BusinessId::first_of(now), OrderId::first_of(now));
        assert_eq!(read(&format!("--business {business}")).unwrap().business, Some(business));
        assert_eq!(read(&format!("--order {order}")).unwrap().order, Some(order));
        for (text, time) in
            [("2024-01-31T15:00:00+05:30", "2024-01-31T09:30:00Z"), ("2024-01-31", "2024-01-31T00:00:00Z")]
        {
            let before = read(&format!("--before {text}")).unwrap().before;
            assert_eq!(before, Some(time.parse().unwrap()), "{text}");
        }
        let both = format!("--order {order} --business {business}");
        for (bad, reason) in [
            ("--before 2124-01-31", "is in the future"),
            ("--before 2024-02-31", "not a date or an RFC 3339 time"),
            ("--before 2024-01-31T15:00:00", "not a date or an RFC 3339 time"),
            ("", "required"),
            ("--business", "value is required"),
            ("--order 7", "invalid value '7'"),
            ("--all yes", "unexpected argument '--all'"),
            (&both, "cannot be used with"),
        ] {
            let refusal = read(bad).unwrap_err();
            assert!(refusal.contains(reason), "{bad}: {refusal}");
        }
    }
}

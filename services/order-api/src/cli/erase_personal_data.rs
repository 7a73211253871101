//! `order-api erase-personal-data --business <id> | --order <id> | --before <date or time>`: erases while the service
//! may be running, with its settings, and prints the result. An interrupted run keeps its progress; run it again.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use chrono::{DateTime, NaiveDate, SecondsFormat, Utc};
use domain::{BusinessId, Clock, Entropy, OrderId};
use outbox::{Outbox, Unit};
use postgres::{Database, StoreError};

use crate::commands::erase_personal_data::{EraseError, erase_next, erase_order, erase_unchanged};
use crate::domain::BusinessErasure;
use crate::queries::support;
use crate::settings::OrderApiSettings;

/// Exit codes.
const DONE: u8 = 0;
const REFUSED: u8 = 1;
const FAILED: u8 = 2;

/// The orders to erase: exactly one of these.
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
pub(super) fn main(erasure: Erasure, out: &mut impl Write) -> ExitCode {
    let outcome = chassis::command(async |settings: &OrderApiSettings| erase(settings, erasure, out).await);
    let code = outcome.unwrap_or_else(|error| {
        // If this line cannot be written either, the exit code still reports the failure.
        let _unwritten = writeln!(out, "failed; it is safe to run this again: {error:#}");
        FAILED
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
    let unit = Unit {
        database: Database::new(&settings.database)?,
        clock: Clock::system(),
        entropy: Entropy::from_system().context("the system provides no randomness")?,
        // No relay runs in this process. The relay of a running service finds the events.
        outbox: Outbox::default(),
    };
    match erasure {
        Erasure { order: Some(id), .. } => of_order(&unit, id, out).await,
        Erasure { business: Some(business), .. } => of_business(&unit, business, out).await,
        Erasure { before: Some(before), .. } => unchanged(&unit, before, out).await,
        // clap requires one of them.
        Erasure { .. } => Ok(REFUSED),
    }
}

async fn of_order(unit: &Unit, id: OrderId, out: &mut impl Write) -> anyhow::Result<u8> {
    let found = support::find_anywhere(unit, &id.to_string(), 1).await?;
    let Some(order) = found.first() else {
        writeln!(out, "{id}: there is no such order")?;
        return Ok(REFUSED);
    };
    match erase_order(unit, order.business_id, id).await {
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

async fn of_business(unit: &Unit, business: BusinessId, out: &mut impl Write) -> anyhow::Result<u8> {
    let mut erasure = BusinessErasure::new(business, unit.clock.now());
    while erasure.completed_at.is_none() {
        let batch = async |conn: &mut _| erase_next(unit, conn, erasure).await;
        erasure = unit.transaction::<_, StoreError, _>(batch).await?;
    }
    let BusinessErasure { erased, not_completed, .. } = erasure;
    writeln!(out, "{business}: personal data erased of {erased} orders")?;
    writeln!(out, "{business}: {not_completed} orders are not completed and were left as they are")?;
    Ok(DONE)
}

async fn unchanged(unit: &Unit, before: DateTime<Utc>, out: &mut impl Write) -> anyhow::Result<u8> {
    let mut total = 0;
    loop {
        match erase_unchanged(unit, before).await? {
            None => bail!("{total} orders were erased; a running service is erasing at the moment"),
            Some(batch) if batch.erased == 0 => break,
            Some(batch) => total += batch.erased,
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
    fn exactly_one_argument_is_allowed_and_no_future_time() {
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

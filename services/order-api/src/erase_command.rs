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

const USAGE: &str = "usage: order-api erase-personal-data --business <id> | --order <id> | --before <2027-01-31, or 2027-01-31T09:30:00Z; not in the future>";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Business(BusinessId),
    Order(OrderId),
    /// What is over and has not changed since then, of all businesses.
    Before(DateTime<Utc>),
}

/// Runs the command with what follows its name, and prints to `out`.
pub fn main(arguments: &[String], out: &mut impl Write) -> ExitCode {
    let outcome = read(arguments, Clock::system().now()).and_then(|wanted| {
        chassis::command(async |settings: &OrderApiSettings| erase(settings, wanted, out).await)
    });
    let code = outcome.unwrap_or_else(|error| {
        // Where not even this can be written, the exit code still tells.
        let _unheard = writeln!(out, "not done, and may be run again: {error:#}");
        COULD_NOT
    });
    ExitCode::from(code)
}

fn read(arguments: &[String], now: DateTime<Utc>) -> anyhow::Result<Wanted> {
    let [name, value] = arguments else { bail!(USAGE) };
    match name.as_str() {
        "--business" => Ok(Wanted::Business(value.parse().ok().context(USAGE)?)),
        "--order" => Ok(Wanted::Order(value.parse().ok().context(USAGE)?)),
        "--before" => {
            let time = time(value).with_context(|| format!("{value} is no time; {USAGE}"))?;
            if time > now {
                bail!("{value} is in the future; {USAGE}");
            }
            Ok(Wanted::Before(time))
        }
        _ => bail!(USAGE),
    }
}

/// A date stands for its midnight in UTC.
fn time(text: &str) -> Option<DateTime<Utc>> {
    let midnight = text.parse::<NaiveDate>().ok().and_then(|date| date.and_hms_opt(0, 0, 0));
    midnight.map(|time| time.and_utc()).or_else(|| Some(DateTime::parse_from_rfc3339(text).ok()?.to_utc()))
}

async fn erase(settings: &OrderApiSettings, wanted: Wanted, out: &mut impl Write) -> anyhow::Result<u8> {
    let ambient = Ambient {
        clock: Clock::system(),
        entropy: Entropy::from_system().context("the system gives no randomness")?,
        public_url: settings.public.url.clone(),
    };
    let database = Database::new(&settings.database)?;
    match wanted {
        Wanted::Order(id) => of_order(&ambient, &database, id, out).await,
        Wanted::Business(business) => of_business(&ambient, &database, business, out).await,
        Wanted::Before(before) => unchanged(&ambient, &database, before, out).await,
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
    use super::*;

    #[test]
    fn exactly_one_thing_is_named_and_nothing_of_the_future() {
        let now = DateTime::UNIX_EPOCH + chrono::TimeDelta::days(20_000);
        let read = |text: &str| read(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>(), now);
        let (business, order) = (BusinessId::first_of(now), OrderId::first_of(now));
        assert_eq!(read(&format!("--business {business}")).unwrap(), Wanted::Business(business));
        assert_eq!(read(&format!("--order {order}")).unwrap(), Wanted::Order(order));
        assert_eq!(
            read("--before 2024-01-31T15:00:00+05:30").unwrap(),
            Wanted::Before("2024-01-31T09:30:00Z".parse().unwrap())
        );
        assert_eq!(
            read("--before 2024-01-31").unwrap(),
            Wanted::Before("2024-01-31T00:00:00Z".parse().unwrap())
        );
        for (bad, why) in [
            ("--before 2124-01-31", "2124-01-31 is in the future; usage: "),
            ("--before 2024-02-31", "2024-02-31 is no time; usage: "),
            ("--before 2024-01-31T15:00:00", "2024-01-31T15:00:00 is no time; usage: "),
        ] {
            let said = format!("{:#}", read(bad).unwrap_err());
            assert!(said.starts_with(why), "{said}");
        }
        for bad in [
            "",
            "--business",
            "--before 2124-01-31T15:00:00Z",
            "--before yesterday",
            "--order 7",
            "--all yes",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert!(read(&format!("--order {order} --business {business}")).is_err());
    }
}

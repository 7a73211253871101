//! Formats amounts and times for the region of the operator's customers.

use chrono::{DateTime, NaiveTime, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;
use domain::{DigitGroups, Paise};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How amounts and dates are written.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema, utoipa::ToSchema,
)]
pub enum Locale {
    /// `₹1,00,000.00`
    #[default]
    #[serde(rename = "en-IN")]
    India,
    #[serde(rename = "en-GB")]
    Britain,
    #[serde(rename = "en-US")]
    UnitedStates,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RegionFormat {
    pub(crate) locale: Locale,
    pub(crate) zone: Tz,
}

impl RegionFormat {
    /// `₹1,00,000.00` in India, `₹100,000.00` elsewhere.
    pub(crate) fn money(&self, amount: Paise) -> String {
        let sign = if amount.is_negative() { "−" } else { "" };
        let paise = amount.get().unsigned_abs();
        format!("{sign}₹{}.{:02}", self.digit_groups().grouped(paise / 100), paise % 100)
    }

    /// `1,00,000` in India, `100,000` elsewhere.
    pub(crate) fn number(&self, number: i64) -> String {
        self.digit_groups().grouped(number.unsigned_abs())
    }

    fn digit_groups(&self) -> DigitGroups {
        match self.locale {
            Locale::India => DigitGroups::Indian,
            Locale::Britain | Locale::UnitedStates => DigitGroups::Western,
        }
    }

    /// The start of the day.
    pub(crate) fn start_of_day(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        let midnight = now.with_timezone(&self.zone).date_naive().and_time(NaiveTime::MIN);
        // Where the clocks change at midnight, a day begins an hour later.
        let begins = [midnight, midnight + TimeDelta::hours(1)];
        let first = begins.into_iter().find_map(|begin| self.zone.from_local_datetime(&begin).earliest());
        first.map_or(now, |first| first.with_timezone(&Utc))
    }

    /// The names of a file's columns, with the zone in `Placed ({zone})`.
    pub(crate) fn columns(&self, names: &[&str], now: DateTime<Utc>) -> Vec<String> {
        let zone = now.with_timezone(&self.zone).format("%Z").to_string();
        names.iter().map(|name| name.replace("{zone}", &zone)).collect()
    }

    /// `2026-01-01 17:30:00`, which spreadsheets read as a time.
    pub(crate) fn spreadsheet_time(&self, time: DateTime<Utc>) -> String {
        time.with_timezone(&self.zone).format("%Y-%m-%d %H:%M:%S").to_string()
    }

    /// `1 January 2026, 17:30 IST`
    pub(crate) fn time(&self, time: DateTime<Utc>) -> String {
        let pattern = match self.locale {
            Locale::India | Locale::Britain => "%-d %B %Y, %H:%M %Z",
            Locale::UnitedStates => "%B %-d, %Y, %-I:%M %p %Z",
        };
        time.with_timezone(&self.zone).format(pattern).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_region() {
        for (paise, india, elsewhere) in [
            (0, "₹0.00", "₹0.00"),
            (-99_999, "−₹999.99", "−₹999.99"),
            (123_456, "₹1,234.56", "₹1,234.56"),
            (10_000_000, "₹1,00,000.00", "₹100,000.00"),
            (123_456_789_012, "₹1,23,45,67,890.12", "₹1,234,567,890.12"),
        ] {
            let written = |locale| RegionFormat { locale, zone: Tz::UTC }.money(Paise::new(paise));
            assert_eq!(written(Locale::India), india);
            assert_eq!(written(Locale::UnitedStates), elsewhere);
        }
    }

    #[test]
    fn times_are_in_the_zone_of_the_region() {
        let time = DateTime::from_timestamp(1_767_268_800, 0).unwrap();
        let written = |locale, zone| RegionFormat { locale, zone }.time(time);
        assert_eq!(written(Locale::India, Tz::Asia__Kolkata), "1 January 2026, 17:30 IST");
        assert_eq!(written(Locale::UnitedStates, Tz::America__New_York), "January 1, 2026, 7:00 AM EST");

        // In India a day begins at 18:30 UTC.
        let india = RegionFormat { locale: Locale::India, zone: Tz::Asia__Kolkata };
        let (last, first): (DateTime<Utc>, DateTime<Utc>) =
            ("2026-01-31T18:29:59Z".parse().unwrap(), "2026-01-31T18:30:00Z".parse().unwrap());
        assert_eq!(india.start_of_day(first), first);
        assert_eq!(india.start_of_day(last), first - TimeDelta::days(1));
        let beirut = RegionFormat { locale: Locale::India, zone: Tz::Asia__Beirut };
        let skipped: DateTime<Utc> = "2026-03-29T10:00:00Z".parse().unwrap();
        assert_eq!(beirut.start_of_day(skipped).to_rfc3339(), "2026-03-28T22:00:00+00:00");
        assert_eq!(
            [last, first].map(|at| india.time(at)),
            ["31 January 2026, 23:59 IST", "1 February 2026, 00:00 IST"]
        );
        assert_eq!(
            [last, first].map(|at| india.spreadsheet_time(at)),
            ["2026-01-31 23:59:59", "2026-02-01 00:00:00"]
        );
    }
}

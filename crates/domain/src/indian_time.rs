//! Times for people, in services that do not know the operator's time zone. They are named IST.

use chrono::{DateTime, FixedOffset, NaiveDate, NaiveTime, TimeDelta, Utc};

/// India has one time zone, without summer time.
const IST: FixedOffset = match FixedOffset::east_opt(5 * 3_600 + 1_800) {
    Some(offset) => offset,
    None => panic!("less than a day"),
};

pub fn indian_time(at: DateTime<Utc>) -> DateTime<FixedOffset> {
    at.with_timezone(&IST)
}

/// When this day begins in India.
pub fn start_of_indian_day(day: NaiveDate) -> DateTime<Utc> {
    day.and_time(NaiveTime::MIN).and_utc() - TimeDelta::seconds(IST.local_minus_utc().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_half_past_six_in_the_evening_of_utc() {
        let of = |at: &str| indian_time(at.parse().unwrap()).format("%-d %b %H:%M").to_string();
        assert_eq!(of("2026-01-31T18:29:59Z"), "31 Jan 23:59");
        assert_eq!(of("2026-01-31T18:30:00Z"), "1 Feb 00:00");
        let start = start_of_indian_day("2026-02-01".parse().unwrap());
        assert_eq!(start, "2026-01-31T18:30:00Z".parse::<DateTime<Utc>>().unwrap());
    }
}

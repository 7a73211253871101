//! How long a balance lasts.

use domain::Paise;

/// The whole days that the balance lasts at the average of these days. `None` if nothing was spent.
pub(crate) fn days_left(balance: Paise, spent_per_day: &[Paise]) -> Option<i64> {
    let spent: i128 = spent_per_day.iter().map(|spent| i128::from(spent.get())).sum();
    if spent <= 0 {
        return None;
    }
    let count = i128::try_from(spent_per_day.len()).ok()?;
    i64::try_from(i128::from(balance.get()) * count / spent).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lasts(balance: i64, spent: &[i64]) -> Option<i64> {
        days_left(Paise::new(balance), &spent.iter().copied().map(Paise::new).collect::<Vec<_>>())
    }

    #[test]
    fn a_balance_lasts_as_long_as_at_the_average_of_the_days() {
        assert_eq!(lasts(70_000, &[10_000; 7]), Some(7));
        assert_eq!(lasts(69_999, &[10_000; 7]), Some(6), "whole days");
        assert_eq!(lasts(45_000, &[10_000]), Some(4), "it began today");
        assert_eq!(lasts(30_000, &[0, 0, 0, 0, 0, 0, 10_000]), Some(21), "a day without orders counts");
        assert_eq!(lasts(0, &[10_000; 7]), Some(0));
    }

    #[test]
    fn without_payments_no_end_is_known() {
        assert_eq!(lasts(70_000, &[0; 7]), None);
        assert_eq!(lasts(70_000, &[]), None);
        assert_eq!(lasts(70_000, &[5_000, -9_000]), None, "more was refunded than paid");
        assert_eq!(lasts(i64::MAX, &[1; 7]), Some(i64::MAX), "no overflow");
    }
}

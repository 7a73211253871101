//! Money: whole paise in an `i64`, with checked arithmetic.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::DigitGroups;

/// An amount in paise (1/100 rupee). Ledger entries are signed, so it may be negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Paise(i64);

/// Why an amount is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PaiseError {
    #[error("the amount must be greater than 0")]
    NotPositive,
    #[error("the amount is too large")]
    TooLarge,
}

impl Paise {
    pub const ZERO: Self = Self(0);

    /// The largest amount of a request: ₹100 crore, far above any delivery and far below an overflow.
    pub const REQUEST_MAX: Self = Self(100_000_000_000);

    pub const fn new(paise: i64) -> Self {
        Self(paise)
    }

    /// An amount of a request, greater than 0 and at most [`Paise::REQUEST_MAX`].
    ///
    /// # Errors
    /// When the amount is outside this range.
    pub fn positive(paise: i64) -> Result<Self, PaiseError> {
        match paise {
            ..=0 => Err(PaiseError::NotPositive),
            _ if paise > Self::REQUEST_MAX.0 => Err(PaiseError::TooLarge),
            _ => Ok(Self(paise)),
        }
    }

    pub const fn get(self) -> i64 {
        self.0
    }

    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    pub fn checked_neg(self) -> Option<Self> {
        self.0.checked_neg().map(Self)
    }
}

impl fmt::Display for Paise {
    /// In rupees, as the portal shows them: `₹49.00`, `₹1,00,000.00`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let paise = self.0.unsigned_abs();
        write!(f, "{sign}₹{}.{:02}", DigitGroups::Indian.grouped(paise / 100), paise % 100)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Sums are exact or refused; they never wrap or round.
        #[test]
        fn arithmetic_is_exact_or_refused(left in any::<i64>(), right in any::<i64>()) {
            let (a, b) = (Paise::new(left), Paise::new(right));
            let exact = |number: i128| i64::try_from(number).ok().map(Paise::new);
            prop_assert_eq!(a.checked_add(b), exact(i128::from(left) + i128::from(right)));
            prop_assert_eq!(a.checked_sub(b), exact(i128::from(left) - i128::from(right)));
            prop_assert_eq!(a.checked_neg(), exact(-i128::from(left)));
            prop_assert_eq!(a.is_negative(), left < 0);
            prop_assert_eq!(a.get(), left);
            prop_assert_eq!(Paise::positive(left).ok(), (1..=Paise::REQUEST_MAX.get()).contains(&left).then_some(a));
        }

        /// The displayed text converts back to the amount.
        #[test]
        fn the_displayed_text_converts_back(paise in any::<i64>()) {
            let shown = Paise::new(paise).to_string();
            let (sign, digits) = shown.strip_prefix('-').map_or((1, shown.as_str()), |rest| (-1, rest));
            let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
            prop_assert_eq!(sign * digits.parse::<i128>().unwrap(), i128::from(paise));
        }
    }

    #[test]
    fn overflow_is_refused_and_never_wraps() {
        let (least, most, one) = (Paise::new(i64::MIN), Paise::new(i64::MAX), Paise::new(1));
        assert_eq!((most.checked_add(one), least.checked_sub(one), least.checked_neg()), (None, None, None));
        assert!(!Paise::ZERO.is_negative() && Paise::new(-1).is_negative());
        let too_large = Paise::new(Paise::REQUEST_MAX.get() + 1);
        assert_eq!(Paise::positive(too_large.get()), Err(PaiseError::TooLarge));
        assert_eq!(Paise::REQUEST_MAX, Paise::new(100_000_000_000));
    }

    #[test]
    fn amounts_are_displayed_in_rupees() {
        assert_eq!(Paise::new(4_905).to_string(), "₹49.05");
        assert_eq!(Paise::new(99_900).to_string(), "₹999.00");
        assert_eq!(Paise::new(123_456).to_string(), "₹1,234.56");
        assert_eq!(Paise::new(10_000_000).to_string(), "₹1,00,000.00");
        assert_eq!(Paise::new(-50).to_string(), "-₹0.50");
        assert_eq!(Paise::ZERO.to_string(), "₹0.00");
        assert_eq!(Paise::new(i64::MIN).to_string(), "-₹92,23,37,20,36,85,47,758.08");
    }

    #[test]
    fn a_requested_amount_is_positive_and_bounded() {
        assert_eq!(Paise::positive(0), Err(PaiseError::NotPositive));
        assert_eq!(Paise::positive(-1), Err(PaiseError::NotPositive));
        assert_eq!(Paise::positive(i64::MAX), Err(PaiseError::TooLarge));
        assert_eq!(Paise::positive(1), Ok(Paise::new(1)));
        assert_eq!(Paise::positive(Paise::REQUEST_MAX.get()), Ok(Paise::REQUEST_MAX));
    }
}

//! Money: whole paise in an `i64`, with arithmetic that refuses to overflow.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An amount in paise (1/100 rupee). May be negative: a ledger entry is signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Paise(i64);

/// Why an amount is not what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PaiseError {
    #[error("the amount must be greater than 0")]
    NotPositive,
    #[error("the amount is too large")]
    TooLarge,
}

impl Paise {
    pub const ZERO: Self = Self(0);

    /// The largest amount that a request may carry: ₹100 crore, far above any delivery and far below overflow.
    pub const REQUEST_MAX: Self = Self(100_000_000_000);

    pub const fn new(paise: i64) -> Self {
        Self(paise)
    }

    /// An amount from a request that must be greater than 0 and at most [`Paise::REQUEST_MAX`].
    ///
    /// # Errors
    /// When it is not.
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
    /// In rupees, for people: `₹49.00`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let paise = self.0.unsigned_abs();
        write!(f, "{sign}₹{}.{:02}", paise / 100, paise % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_rupees() {
        assert_eq!(Paise::new(4_905).to_string(), "₹49.05");
        assert_eq!(Paise::new(-50).to_string(), "-₹0.50");
        assert_eq!(Paise::new(i64::MIN).to_string(), "-₹92233720368547758.08");
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

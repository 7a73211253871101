//! Live orders that need the business's attention.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use domain::indian_time;

use super::Order;

/// Why an order needs attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExceptionKind {
    /// The fleet has the parcel after a failed attempt, and the business has decided nothing, or the fleet is late.
    Failed,
    /// No driver took it.
    Unassigned,
    /// The fleet reported nothing about a parcel on its way.
    Stuck,
}

/// Leaves only orders with or without a decision after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionFilter {
    Asked,
    None,
    /// Orders whose decision has not begun. They are among the failed ones, and need not be late.
    Pending,
}

/// How long the operator's fleet may take.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Until a driver is assigned.
    pub unassigned: TimeDelta,
    /// Between two reports about a parcel on its way.
    pub silent: TimeDelta,
}

/// The same as times, now.
#[derive(Clone, Copy, Debug)]
pub struct Deadlines {
    pub unassigned: DateTime<Utc>,
    pub silent: DateTime<Utc>,
    /// In India.
    pub today: NaiveDate,
}

impl Patience {
    pub fn deadlines(self, now: DateTime<Utc>) -> Deadlines {
        Deadlines {
            unassigned: now - self.unassigned,
            silent: now - self.silent,
            today: indian_time(now).date_naive(),
        }
    }
}

/// A page of orders of one kind, each with the time since when it is in its state, the latest first.
#[derive(Clone, Debug)]
pub struct FoundExceptions {
    pub orders: Vec<(Order, DateTime<Utc>)>,
    pub has_more: bool,
}

/// The number of orders of each kind, up to the counted maximum.
#[derive(Clone, Copy, Debug)]
pub struct ExceptionCounts {
    pub failed: i64,
    pub unassigned: i64,
    pub stuck: i64,
}

//! The cells of a file. Each format writes them in its own way.

use chrono::{DateTime, NaiveDate, Utc};
use domain::Paise;
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    Empty,
    /// May come from others.
    Text(String),
    Number(i64),
    /// Written in rupees.
    Money(Paise),
    /// Written in the operator's time zone.
    Time(DateTime<Utc>),
    Date(NaiveDate),
}

/// A text of a JSON object.
pub(crate) fn text(object: &Value, name: &str) -> Cell {
    object[name].as_str().into()
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        if text.is_empty() { Self::Empty } else { Self::Text(text) }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Paise> for Cell {
    fn from(amount: Paise) -> Self {
        Self::Money(amount)
    }
}

impl From<DateTime<Utc>> for Cell {
    fn from(time: DateTime<Utc>) -> Self {
        Self::Time(time)
    }
}

impl From<NaiveDate> for Cell {
    fn from(date: NaiveDate) -> Self {
        Self::Date(date)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, Into::into)
    }
}

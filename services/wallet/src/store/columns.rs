//! Converts columns, and checks the number of changed rows.

use std::str::FromStr;

use postgres::StoreError;

/// Parses a text column.
pub(super) fn parse<T: FromStr>(column: &'static str, text: &str) -> Result<T, StoreError> {
    text.parse().map_err(|_| StoreError::Corrupt(format!("{column} has an invalid value")))
}

/// Fails if a statement changed an unexpected number of rows.
pub(super) fn expect_rows(what: &'static str, expected: usize, changed: usize) -> Result<(), StoreError> {
    if changed == expected {
        Ok(())
    } else {
        Err(StoreError::Corrupt(format!("{what} changed {changed} rows instead of {expected}")))
    }
}

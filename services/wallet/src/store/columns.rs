//! Reading columns back into what they were written from.

use std::str::FromStr;

use postgres::StoreError;

/// What a text column holds; anything else was not written by this service.
pub(super) fn parse<T: FromStr>(column: &'static str, text: &str) -> Result<T, StoreError> {
    text.parse().map_err(|_| StoreError::Corrupt(format!("{column} holds what it should not")))
}

/// Fails when a statement touched another number of rows than it was written for.
pub(super) fn expect_rows(what: &'static str, wanted: usize, touched: usize) -> Result<(), StoreError> {
    if touched == wanted {
        Ok(())
    } else {
        Err(StoreError::Corrupt(format!("{what} touched {touched} rows instead of {wanted}")))
    }
}

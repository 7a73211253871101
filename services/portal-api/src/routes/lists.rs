//! Lists of our own rows, a page at a time.

use std::str::FromStr;

use internal_api::{Page, PageQuery};
use postgres::StoreError;
use web::ApiError;

use super::errors;

/// The page that a request asks for, of rows whose ids are `Id`s.
pub(super) struct Wanted<Id> {
    pub(super) limit: usize,
    pub(super) after: Option<Id>,
    /// What one row is called.
    row: &'static str,
}

impl<Id: FromStr> Wanted<Id> {
    pub(super) fn of(query: PageQuery, row: &'static str) -> Result<Self, ApiError> {
        let after = query.starting_after.map(|text| text.parse().map_err(|_| errors::unknown_cursor(row)));
        Ok(Self { limit: query.limit, after: after.transpose()?, row })
    }

    /// The page, from what the store read: one row more than wanted when more follow, `None` for a cursor that names no
    /// row.
    pub(super) fn page<T>(&self, read: Result<Option<Vec<T>>, StoreError>) -> Result<Page<T>, ApiError> {
        let rows = read.map_err(errors::store)?.ok_or_else(|| errors::unknown_cursor(self.row))?;
        Ok(Page::cut(rows, self.limit))
    }
}

//! Pagination of lists from this service's database.

use std::str::FromStr;

use internal_api::{Page, PageQuery};
use web::ApiError;

use crate::http::errors;

/// The requested page of a list whose rows have ids of type `Id`.
pub(crate) struct PageRequest<Id> {
    pub(crate) limit: usize,
    pub(crate) after: Option<Id>,
    /// The noun for a row, for error messages.
    row: &'static str,
}

impl<Id: FromStr> PageRequest<Id> {
    pub(crate) fn new(query: PageQuery, row: &'static str) -> Result<Self, ApiError> {
        let after = query.starting_after.map(|text| text.parse().map_err(|_| errors::unknown_cursor(row)));
        Ok(Self { limit: query.limit, after: after.transpose()?, row })
    }

    /// Makes the page from the rows of a query: one more than `limit` if more follow, `None` for an unknown cursor.
    pub(crate) fn page<T>(&self, rows: Option<Vec<T>>) -> Result<Page<T>, ApiError> {
        let rows = rows.ok_or_else(|| errors::unknown_cursor(self.row))?;
        Ok(Page::cut(rows, self.limit))
    }
}

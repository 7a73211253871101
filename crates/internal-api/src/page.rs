//! Pagination: `limit` and `startingAfter` in, `{data, hasMore}` out (SPECIFICATION §13).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    pub data: Vec<T>,
    /// Whether more entries follow.
    pub has_more: bool,
}

impl<T> Page<T> {
    /// Makes a page of up to `limit + 1` rows. The extra row shows that there are more.
    pub fn cut(mut rows: Vec<T>, limit: usize) -> Self {
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        Self { data: rows, has_more }
    }

    pub fn map<U>(self, to: impl FnMut(T) -> U) -> Page<U> {
        Page { data: self.data.into_iter().map(to).collect(), has_more: self.has_more }
    }
}

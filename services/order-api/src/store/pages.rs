//! Pages of orders of any size. Nothing else happens on this thread while an order is read or written, so that a page of
//! large orders is read in portions, and ends early.

use diesel::result::Error;
use futures_util::{Stream, TryStreamExt};

use super::StoreError;
use super::rows::OrderRow;
use crate::domain::{FoundOrders, Order};

/// The details of the orders of a page. A larger order has a page of its own.
const BYTES: usize = 256 * 1024;
/// The most orders of the first statement, whose size is unknown. The database reads them all.
const FIRST_PORTION: usize = 4;
/// The most orders of any later statement.
const PORTION: usize = 35;

/// A page that is being read.
pub(super) struct PageInPortions {
    limit: usize,
    orders: Vec<Order>,
    bytes: usize,
    /// Known at the end.
    has_more: Option<bool>,
}

impl PageInPortions {
    pub(super) fn of(limit: usize) -> Self {
        Self { limit, orders: Vec::new(), bytes: 0, has_more: None }
    }

    /// The next portion: its size, and the order after which it begins. None at the end.
    pub(super) fn next(&self) -> Option<(i64, Option<&Order>)> {
        let size = i64::try_from(self.portion()).unwrap_or(i64::MAX);
        self.has_more.is_none().then(|| (size, self.orders.last()))
    }

    /// Adds the orders of a portion until the page is full.
    pub(super) async fn add(
        &mut self,
        mut rows: impl Stream<Item = Result<OrderRow, Error>> + Unpin,
    ) -> Result<(), StoreError> {
        let (wanted, mut read) = (self.portion(), 0);
        while let Some(row) = rows.try_next().await? {
            let bytes = self.bytes + row.size_of_details();
            if self.orders.len() == self.limit || bytes > BYTES && !self.orders.is_empty() {
                self.has_more = Some(true);
                return Ok(());
            }
            (self.bytes, read) = (bytes, read + 1);
            let order: Order = row.try_into()?;
            // It changed meanwhile, so that it follows again, in a list by the last change.
            self.orders.retain(|known| known.id != order.id);
            self.orders.push(order);
        }
        self.has_more = (read < wanted).then_some(false);
        Ok(())
    }

    pub(super) fn found(self) -> FoundOrders {
        FoundOrders { orders: self.orders, has_more: self.has_more.unwrap_or_default(), continue_after: None }
    }

    /// As many orders as fit if they are as large as the ones before, and one more, which shows that there are more.
    fn portion(&self) -> usize {
        let fitting = match self.orders.len() {
            0 => FIRST_PORTION,
            read => BYTES.saturating_sub(self.bytes) * read / self.bytes.max(1) + 1,
        };
        (self.limit + 1).saturating_sub(self.orders.len()).min(fitting).min(PORTION)
    }
}

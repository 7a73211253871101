//! Pages of orders of any size. Nothing else happens on this thread while an order is read or written, so that a page of
//! large orders is read in portions, and ends early.

use super::StoreError;
use super::rows::OrderRow;
use crate::domain::{FoundOrders, Order};

/// The details of the orders of a page.
const BYTES: usize = 1024 * 1024;
/// The most orders of a statement. They may be 9 MB, of which a page takes the first.
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

    pub(super) fn add(&mut self, rows: Vec<OrderRow>) -> Result<(), StoreError> {
        let is_last = rows.len() < self.portion();
        for row in rows {
            if self.orders.len() == self.limit || self.bytes >= BYTES {
                self.has_more = Some(true);
                return Ok(());
            }
            self.bytes += row.size_of_details();
            let order: Order = row.try_into()?;
            // It changed meanwhile, so that it follows again, in a list by the last change.
            self.orders.retain(|known| known.id != order.id);
            self.orders.push(order);
        }
        self.has_more = is_last.then_some(false);
        Ok(())
    }

    pub(super) fn found(self) -> FoundOrders {
        FoundOrders { orders: self.orders, has_more: self.has_more.unwrap_or_default() }
    }

    /// One order more than those of the page shows that there are more.
    fn portion(&self) -> usize {
        let most = if self.bytes < BYTES { PORTION } else { 1 };
        (self.limit + 1).saturating_sub(self.orders.len()).min(most)
    }
}

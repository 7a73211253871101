//! The calls about orders, and lists.

use std::sync::Arc;
use std::vec::IntoIter;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::transport::{Call, Transport};
use crate::types::Answered;
use crate::{
    DeliveryCode, Error, NewDeliveryDetails, NewOrder, NewReattempt, Order, OrderCreated, OrderEvidence,
    Result, SimulatedOrder, TimelineEntry,
};

pub(crate) const PAGE_MAX: u32 = 100;

/// The calls about orders.
#[derive(Clone, Debug)]
pub struct Orders {
    transport: Arc<Transport>,
}

/// The body of a new order: a [`NewOrder`], or the stored bytes of an earlier attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderBody(String);

impl OrderBody {
    pub fn from_json(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&NewOrder> for OrderBody {
    fn from(order: &NewOrder) -> Self {
        Self(json!(order).to_string())
    }
}

impl From<NewOrder> for OrderBody {
    fn from(order: NewOrder) -> Self {
        Self::from(&order)
    }
}

/// The answer to a created order.
#[derive(Clone, Debug, PartialEq)]
pub struct Created {
    pub order: OrderCreated,
    /// The order already existed, and this is the answer to its first request.
    pub replayed: bool,
}

/// Which orders a list contains.
#[derive(Clone, Debug, Default)]
pub struct OrderFilters {
    pub order_reference: Option<String>,
    pub tracking_code: Option<String>,
    pub status: Option<String>,
    /// RFC 3339; orders by their last change, oldest first.
    pub updated_after: Option<String>,
    pub cod_status: Option<String>,
    /// `cod` or `prepaid`.
    pub payment_type: Option<String>,
    /// RFC 3339, inclusive.
    pub created_from: Option<String>,
    /// RFC 3339, exclusive.
    pub created_until: Option<String>,
    /// Words of the customer or the order.
    pub search: Option<String>,
    pub starting_after: Option<String>,
    /// The size of a page, 1 to 100.
    pub limit: Option<u32>,
}

impl Orders {
    pub(crate) fn new(transport: Arc<Transport>) -> Self {
        Self { transport }
    }

    /// Creates one delivery. The key is stable for the local order, such as `<website>-<order id>`. Use the same key
    /// for every attempt.
    pub async fn create(&self, order: impl Into<OrderBody>, idempotency_key: &str) -> Result<Created> {
        check_idempotency_key(idempotency_key)?;
        let body = order.into();
        let call = Call::post("/integration/orders".into(), body.as_str());
        let call = Call { idempotency_key: Some(idempotency_key), ..call };
        let answer = self.transport.send::<OrderCreated>(&call).await?;
        let replayed = answer.headers.get("idempotent-replayed").is_some_and(|value| value == "true");
        Ok(Created { order: answer.body, replayed })
    }

    pub async fn get(&self, id: &str) -> Result<Order> {
        Ok(self.transport.send(&Call::get(path_of(id)?)).await?.body)
    }

    /// All orders that match: newest first, or with `updated_after` by their last change, oldest first.
    pub fn list(&self, filters: OrderFilters) -> Pages<Order> {
        let query = [
            ("orderReference", filters.order_reference),
            ("trackingCode", filters.tracking_code),
            ("status", filters.status),
            ("updatedAfter", filters.updated_after),
            ("codStatus", filters.cod_status),
            ("paymentType", filters.payment_type),
            ("createdFrom", filters.created_from),
            ("createdUntil", filters.created_until),
            ("search", filters.search),
            ("limit", Some(filters.limit.unwrap_or(PAGE_MAX).to_string())),
        ];
        let given = query.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        Pages::new(self.transport.clone(), "/integration/orders".into(), given, filters.starting_after)
    }

    /// Everything that happened to an order, oldest first, but what [`Pages::incomplete`] names.
    ///
    /// # Errors
    /// When the id is not an order's.
    pub fn timeline(&self, id: &str) -> Result<Pages<TimelineEntry>> {
        let query = vec![("limit", PAGE_MAX.to_string())];
        Ok(Pages::new(self.transport.clone(), format!("{}/events", path_of(id)?), query, None))
    }

    /// Cancels an order before its pickup. A repeated call returns the same order.
    pub async fn cancel(&self, id: &str, reason: Option<&str>) -> Result<Order> {
        let body: Map<String, Value> =
            reason.map(|reason| ("reason".to_owned(), reason.into())).into_iter().collect();
        let body = Value::Object(body).to_string();
        Ok(self.transport.send(&Call::post(format!("{}/cancel", path_of(id)?), &body)).await?.body)
    }

    /// Asks for another attempt at a delivery that failed after its pickup. A repeated call returns the same order.
    pub async fn reattempt(&self, id: &str, reattempt: &NewReattempt) -> Result<Order> {
        let body = json!(reattempt).to_string();
        Ok(self.transport.send(&Call::post(format!("{}/reattempt", path_of(id)?), &body)).await?.body)
    }

    /// Asks for the parcel, after a delivery that failed after its pickup. A repeated call returns the same order.
    pub async fn request_return(&self, id: &str) -> Result<Order> {
        Ok(self.transport.send(&Call::post(format!("{}/return", path_of(id)?), "{}")).await?.body)
    }

    /// Corrects the phone, the whole address, or both, before the delivery has ended.
    pub async fn correct_delivery(&self, id: &str, details: &NewDeliveryDetails) -> Result<Order> {
        let body = json!(details).to_string();
        Ok(self.transport.send(&Call::post(format!("{}/delivery-details", path_of(id)?), &body)).await?.body)
    }

    /// A code for the customer, who tells it to the driver. A repeated call returns the same code.
    pub async fn issue_delivery_code(&self, id: &str) -> Result<String> {
        let call = Call::post(format!("{}/delivery-code", path_of(id)?), "{}");
        Ok(self.transport.send::<DeliveryCode>(&call).await?.body.delivery_code)
    }

    /// The records of an order's attempts, for disputes.
    pub async fn evidence(&self, id: &str) -> Result<OrderEvidence> {
        Ok(self.transport.send(&Call::get(format!("{}/evidence", path_of(id)?))).await?.body)
    }

    /// Moves a test order. A lost answer is an error, because a second move would not be the same.
    pub async fn simulate(&self, id: &str, event: &str) -> Result<SimulatedOrder> {
        let body = json!({ "event": event }).to_string();
        let call = Call::post(format!("{}/simulate", path_of(id)?), &body);
        Ok(self.transport.send(&Call { is_repeatable: false, ..call }).await?.body)
    }
}

/// The entries of a list, which it reads page by page.
#[derive(Debug)]
pub struct Pages<T> {
    transport: Arc<Transport>,
    path: String,
    query: Vec<(&'static str, String)>,
    starting_after: Option<String>,
    page: IntoIter<T>,
    is_last: bool,
    incomplete: Vec<String>,
}

/// An entry of a list; a page without a cursor continues after its last id.
pub(crate) trait Listed: Answered {
    fn id(&self) -> &str;
}

impl Listed for Order {
    fn id(&self) -> &str {
        &self.id
    }
}

impl Answered for TimelineEntry {}

impl Listed for TimelineEntry {
    fn id(&self) -> &str {
        &self.id
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<T> {
    data: Vec<T>,
    has_more: bool,
    next: Option<String>,
    #[serde(default)]
    incomplete: Vec<String>,
}

impl<T: Answered> Answered for Page<T> {
    fn is_complete(&self) -> bool {
        self.data.iter().all(T::is_complete)
    }
}

impl<T> Pages<T> {
    pub(crate) fn new(
        transport: Arc<Transport>,
        path: String,
        query: Vec<(&'static str, String)>,
        starting_after: Option<String>,
    ) -> Self {
        let page = Vec::new().into_iter();
        Self { transport, path, query, starting_after, page, is_last: false, incomplete: Vec::new() }
    }

    /// The services (`wallet`, `webhook-dispatcher`) that did not answer, so their entries are missing in the pages so far.
    pub fn incomplete(&self) -> &[String] {
        &self.incomplete
    }
}

#[expect(private_bounds, reason = "only this crate lists entries")]
impl<T: Listed> Pages<T> {
    /// The next entry; `None` at the end. After an error, call it again to continue.
    pub async fn next(&mut self) -> Result<Option<T>> {
        loop {
            if let Some(entry) = self.page.next() {
                return Ok(Some(entry));
            }
            if self.is_last {
                return Ok(None);
            }
            let mut query = self.query.clone();
            query.extend(self.starting_after.clone().map(|cursor| ("startingAfter", cursor)));
            let call = Call { query, ..Call::get(self.path.clone()) };
            let Page { data, has_more, next, mut incomplete } =
                self.transport.send::<Page<T>>(&call).await?.body;
            incomplete.retain(|service| !self.incomplete.contains(service));
            self.incomplete.append(&mut incomplete);
            let cursor = next.or_else(|| data.last().map(|entry| entry.id().to_owned()));
            self.is_last = !has_more || cursor.is_none();
            self.starting_after = cursor;
            // The feed takes a cursor or a time.
            self.query.retain(|(name, _)| *name != "since");
            self.page = data.into_iter();
        }
    }
}

pub(crate) fn check_idempotency_key(key: &str) -> Result<()> {
    let is_printable = key.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    if (1..=255).contains(&key.len()) && is_printable && key.trim_matches(' ') == key {
        return Ok(());
    }
    Err(Error::Argument(
        "the idempotency key must be 1 to 255 printable ASCII characters, stable for the order",
    ))
}

fn path_of(id: &str) -> Result<String> {
    if is_id(id, "ord_") {
        Ok(format!("/integration/orders/{id}"))
    } else {
        Err(Error::Argument(
            "an order's id is ord_ and 26 characters, from the response that created it; by your reference, use list",
        ))
    }
}

pub(crate) fn is_id(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|rest| {
        (1..=64).contains(&rest.len())
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_ids_are_checked() {
        for key in ["a", "my-shop-1001", "my shop 1", &"k".repeat(255)] {
            assert_eq!(check_idempotency_key(key), Ok(()), "{key}");
        }
        for key in ["", " a", "a ", "a\n", "é", &"k".repeat(256)] {
            assert!(check_idempotency_key(key).is_err(), "{key}");
        }
        assert!(path_of("ord_01ARZ3NDEKTSV4RRFFQ69G5FAV").is_ok());
        for id in ["", "ord_", "../orders", "ord_a/b", "ord_a?b", "evt_1"] {
            assert!(path_of(id).is_err(), "{id}");
        }
    }
}

//! The rows of a file, read page by page from the service that owns them.

use chrono::{DateTime, Utc};
use domain::{BusinessId, OrderId, Paise};
use identity::Realm;
use internal_api::CallError;
use internal_api::cash::{CashQuery, CashView};
use internal_api::orders::{OrderView, OrdersQuery};
use serde_json::Value;

use crate::domain::{Mask, RegionFormat};
use crate::exports::domain::{Cell, Export, ExportKind, text};
use crate::state::State;

/// The most that the owners accept.
pub(crate) const PAGE: usize = 100;

/// A page of the file.
pub(crate) struct Rows {
    pub(crate) rows: Vec<Vec<Cell>>,
    /// Where the next page begins; `None` at the end.
    pub(crate) next: Option<OrderId>,
}

/// The list that becomes the file.
pub(crate) enum Source {
    Orders {
        query: OrdersQuery,
        mask: Option<Mask>,
    },
    /// The staff sees who clears a difference.
    Cash {
        query: CashQuery,
        of_staff: bool,
    },
}

impl Source {
    /// # Errors
    /// When the stored filter cannot be read.
    pub(crate) fn of(export: &Export) -> Result<Self, serde_json::Error> {
        let filter = export.filter.clone();
        Ok(match export.kind {
            ExportKind::Orders => {
                let query = OrdersQuery { limit: Some(PAGE), ..serde_json::from_value(filter)? };
                Self::Orders { query, mask: (!export.shows_customers).then(Mask::of_customers) }
            }
            ExportKind::Cash => {
                let query = CashQuery { limit: Some(PAGE), ..serde_json::from_value(filter)? };
                Self::Cash { query, of_staff: export.realm == Realm::Staff }
            }
        })
    }

    pub(crate) fn columns(&self, region: RegionFormat, now: DateTime<Utc>) -> Vec<String> {
        let names = match self {
            Self::Orders { .. } => &ORDER_COLUMNS[..],
            Self::Cash { of_staff: true, .. } => &CASH_COLUMNS[..],
            Self::Cash { of_staff: false, .. } => &CASH_COLUMNS[..CASH_COLUMNS_OF_BUSINESS],
        };
        region.columns(names, now)
    }

    /// The time before which no order of the list was placed.
    pub(crate) fn oldest(&self, business_since: DateTime<Utc>) -> DateTime<Utc> {
        let from = match self {
            Self::Orders { query, .. } => query.created_from.as_deref().and_then(|from| from.parse().ok()),
            Self::Cash { .. } => None,
        };
        from.map_or(business_since, |from: DateTime<Utc>| from.max(business_since))
    }

    /// The next page, and then those after it.
    pub(crate) async fn next(&mut self, state: &State, business: BusinessId) -> Result<Rows, CallError> {
        match self {
            Self::Orders { query, mask } => {
                let page = state.peers.orders.list(business, query).await?;
                let last = page.data.last().map(|order| order.id);
                let next = page.next.or(last).filter(|_| page.has_more);
                query.starting_after = next.map(|order| order.to_string());
                let rows = page.data.into_iter().map(|order| order_row(masked(order, *mask))).collect();
                Ok(Rows { rows, next })
            }
            Self::Cash { query, of_staff } => {
                let page = state.peers.wallet.cash(business, query).await?;
                query.totals = Some("false".to_owned());
                let next = page.data.last().map(|cash| cash.order_id).filter(|_| page.has_more);
                query.starting_after = next.map(|order| order.to_string());
                Ok(Rows { rows: page.data.iter().map(|cash| cash_row(cash, *of_staff)).collect(), next })
            }
        }
    }
}

/// As the list shows the order to a role that does not see customers.
fn masked(order: OrderView, mask: Option<Mask>) -> OrderView {
    let Some(mask) = mask else { return order };
    let hide = |part: &Value, name: &str| {
        let mut answer = serde_json::json!({ name: part });
        mask.apply(&mut answer);
        answer[name].take()
    };
    OrderView {
        customer: hide(&order.customer, "customer"),
        delivery: hide(&order.delivery, "delivery"),
        reason: None,
        ..order
    }
}

/// Later columns follow, because programs know columns by their position.
const ORDER_COLUMNS: [&str; 27] = [
    "Order",
    "Reference",
    "Tracking code",
    "Mode",
    "Status",
    "Cash status",
    "Payment",
    "Order value (INR)",
    "Cash to collect (INR)",
    "Cash collected (INR)",
    "Cash handed over (INR)",
    "Cash settled (INR)",
    "Delivery fee (INR)",
    "Fee refunded (INR)",
    "Failed attempts",
    "Customer",
    "Phone",
    "E-mail",
    "Address",
    "Landmark",
    "City",
    "State",
    "PIN code",
    "Reason",
    "Placed ({zone})",
    "Updated ({zone})",
    "Fees of further attempts (INR)",
];

fn order_row(order: OrderView) -> Vec<Cell> {
    let amount = |name: &str| order.payment[name].as_i64().map(Paise::new).into();
    let (customer, delivery) = (&order.customer, &order.delivery);
    vec![
        order.id.to_string().into(),
        order.order_reference.as_str().into(),
        order.tracking_code.to_string().into(),
        order.mode.to_string().into(),
        order.status.to_string().into(),
        order.cod_status.to_string().into(),
        text(&order.payment, "paymentType"),
        amount("orderValuePaise"),
        amount("codAmountPaise"),
        order.cod_collected_paise.into(),
        order.cod_handed_over_paise.into(),
        order.cod_settled_paise.into(),
        order.fee_charged_paise.into(),
        order.refunded_paise.into(),
        Cell::Number(order.failed_attempts.into()),
        text(customer, "name"),
        text(customer, "phone"),
        text(customer, "email"),
        address(delivery).into(),
        text(delivery, "landmark"),
        text(delivery, "city"),
        text(delivery, "state"),
        text(delivery, "pincode"),
        order.reason.as_deref().into(),
        order.created_at.into(),
        order.updated_at.into(),
        order.reattempt_fees_paise.into(),
    ]
}

fn address(delivery: &Value) -> String {
    let lines = ["addressLine1", "addressLine2"].iter().filter_map(|line| delivery[line].as_str());
    lines.collect::<Vec<_>>().join(", ")
}

/// Without those of the staff.
const CASH_COLUMNS_OF_BUSINESS: usize = 17;
const CASH_COLUMNS: [&str; 20] = [
    "Order",
    "Reference",
    "Status",
    "Expected (INR)",
    "Collected (INR)",
    "Handed over (INR)",
    "Settled (INR)",
    "Discrepancy",
    "Delivered ({zone})",
    "Collected ({zone})",
    "Handed over ({zone})",
    "Settled ({zone})",
    "Promised on",
    "Bank reference",
    "Difference (INR)",
    "Paid on",
    "Reported as settled (INR)",
    "Owner of the discrepancy",
    "Note",
    "Closed because",
];

fn cash_row(cash: &CashView, of_staff: bool) -> Vec<Cell> {
    let difference = cash.difference.as_ref();
    let mut row = vec![
        cash.order_id.to_string().into(),
        cash.order_reference.as_str().into(),
        cash.status.as_str().into(),
        cash.expected_paise.into(),
        cash.collected_paise.into(),
        cash.handed_over_paise.into(),
        cash.settled_paise.into(),
        Cell::from(match cash.difference_state.as_deref() {
            _ if cash.discrepant => "yes",
            Some("closed") => "closed",
            _ => "no",
        }),
        cash.delivered_at.into(),
        cash.collected_at.into(),
        cash.handed_over_at.into(),
        cash.settled_at.into(),
        cash.promised_on.into(),
        cash.remittance.as_ref().map(|remittance| remittance.bank_reference.as_str()).into(),
        cash.difference_paise.into(),
        cash.remittance.as_ref().map(|remittance| remittance.paid_on).into(),
        cash.reported_settled_paise.into(),
        difference.and_then(|known| known.owner.as_deref()).into(),
        difference.and_then(|known| known.note.as_deref()).into(),
        difference.and_then(|known| known.resolution.as_deref()).into(),
    ];
    row.truncate(if of_staff { CASH_COLUMNS.len() } else { CASH_COLUMNS_OF_BUSINESS });
    row
}

#[cfg(test)]
mod tests {
    use domain::{CodStatus, DeliveryStatus, Entropy, Mode, TrackingCode};
    use serde_json::json;

    use super::*;

    fn order() -> OrderView {
        let id: OrderId = "ord_01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
        let at = "2026-01-31T18:30:00Z".parse().unwrap();
        OrderView {
            id,
            service_order_id: id,
            order_reference: "shop-1".to_owned(),
            order_source: "business_website".to_owned(),
            tracking_code: TrackingCode::generate(Mode::Test, &Entropy::seeded(5)),
            tracking_url: "http://t.test".to_owned(),
            status: DeliveryStatus::Created,
            cod_status: CodStatus::NotApplicable,
            mode: Mode::Test,
            customer: json!({ "name": "Asha Rao", "phone": "+919876543210", "email": "asha@home.example" }),
            delivery: json!({ "addressLine1": "12 MG Road", "addressLine2": "Floor 2", "city": "Bengaluru", "pincode": "560001" }),
            pickup: json!({}),
            package: json!({}),
            payment: json!({ "paymentType": "cod", "codAmountPaise": 12_345, "orderValuePaise": null }),
            notes: json!({}),
            fee_charged_paise: Paise::new(4_900),
            refunded_paise: Paise::ZERO,
            driver: Value::Null,
            reason: Some("call +919876543210".to_owned()),
            reason_code: None,
            failed_attempts: 1,
            reattempt: None,
            reattempt_possible: false,
            reattempt_fee_paise: Paise::ZERO,
            reattempt_fees_paise: Paise::new(3_000),
            return_requested_at: None,
            return_requested_by: None,
            corrections: Vec::new(),
            cod_collected_paise: None,
            cod_handed_over_paise: None,
            cod_settled_paise: None,
            cod_discrepancy_paise: None,
            cod_difference_paise: None,
            created_at: at,
            updated_at: at,
            personal_data_erased_at: None,
        }
    }

    fn cell(row: &[Cell], column: &str) -> Cell {
        let index = ORDER_COLUMNS.iter().position(|name| *name == column).unwrap();
        row[index].clone()
    }

    #[test]
    fn a_role_that_does_not_see_customers_gets_what_its_list_shows() {
        let row = order_row(order());
        assert_eq!(row.len(), ORDER_COLUMNS.len());
        let hidden = order_row(masked(order(), Some(Mask::of_customers())));
        for (column, seen, masked) in [
            ("Customer", "Asha Rao".into(), "Asha Rao".into()),
            ("Phone", "+919876543210".into(), "••••••3210".into()),
            ("E-mail", "asha@home.example".into(), Cell::Empty),
            ("Address", "12 MG Road, Floor 2".into(), Cell::Empty),
            ("City", "Bengaluru".into(), "Bengaluru".into()),
            ("PIN code", "560001".into(), "560001".into()),
            ("Reason", "call +919876543210".into(), Cell::Empty),
            ("Cash to collect (INR)", Cell::Money(Paise::new(12_345)), Cell::Money(Paise::new(12_345))),
            ("Order value (INR)", Cell::Empty, Cell::Empty),
            ("Delivery fee (INR)", Cell::Money(Paise::new(4_900)), Cell::Money(Paise::new(4_900))),
            (
                "Fees of further attempts (INR)",
                Cell::Money(Paise::new(3_000)),
                Cell::Money(Paise::new(3_000)),
            ),
        ] {
            assert_eq!((cell(&row, column), cell(&hidden, column)), (seen, masked), "{column}");
        }
    }

    #[test]
    fn times_name_their_zone_and_the_list_ends_with_its_filter_or_the_business() {
        let at = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        let region = RegionFormat { locale: Default::default(), zone: chrono_tz::Tz::Asia__Kolkata };
        let query = OrdersQuery {
            created_from: Some("2026-01-02T00:00:00+05:30".to_owned()),
            ..OrdersQuery::default()
        };
        let orders = Source::Orders { query, mask: None };
        let columns = orders.columns(region, at("2026-01-01T00:00:00Z"));
        assert_eq!(columns[24], "Placed (IST)");
        let of = |of_staff| Source::Cash { query: CashQuery::default(), of_staff };
        let columns = |of_staff| of(of_staff).columns(region, at("2026-01-01T00:00:00Z"));
        assert_eq!(columns(true).len(), CASH_COLUMNS.len());
        assert!(columns(false).iter().all(|name| !name.contains("Owner") && !name.contains("because")));
        let cash = of(false);
        let since = at("2025-01-01T00:00:00Z");
        assert_eq!(orders.oldest(since), at("2026-01-01T18:30:00Z"));
        assert_eq!(orders.oldest(at("2026-06-01T00:00:00Z")), at("2026-06-01T00:00:00Z"));
        assert_eq!(cash.oldest(since), since);
    }
}

//! A business, its orders and its clients.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use local_stack::Stack;
use waybill_client::{
    ClientOptions, Environment, NewCustomer, NewDelivery, NewOrder, NewPayment, Order, OrderFilters, Waybill,
};
use waybill_tests::Business;

const TOP_UP_PAISE: i64 = 10_000_000;

pub(crate) struct TestShop {
    pub(crate) stack: Stack,
    pub(crate) business: Business,
    pub(crate) live_key: String,
}

impl TestShop {
    pub(crate) async fn open() -> anyhow::Result<Self> {
        let stack = Stack::for_tests().await?;
        let mut business = Business::sign_up(&stack).await?;
        business.go_live(TOP_UP_PAISE).await?;
        let live_key = business.live_key.clone().unwrap_or_default();
        Ok(Self { stack, business, live_key })
    }

    pub(crate) fn test(&self) -> anyhow::Result<Waybill> {
        Ok(Waybill::new(&self.business.test_key, self.business.order_api(), ClientOptions::default())?)
    }

    pub(crate) fn live(&self) -> anyhow::Result<Waybill> {
        Ok(self.test()?.with_key(&self.live_key)?)
    }
}

/// The smallest order.
pub(crate) fn new_order(reference: &str, delivery_fee_paise: i64) -> NewOrder {
    NewOrder {
        order_reference: reference.into(),
        customer: NewCustomer { name: "Asha Rao".into(), phone: "+919800000001".into(), email: None },
        delivery: NewDelivery {
            address_line1: "12th Main Road".into(),
            city: "Bengaluru".into(),
            state: "Karnataka".into(),
            pincode: "560038".into(),
            ..NewDelivery::default()
        },
        payment: NewPayment { delivery_fee_paise, ..NewPayment::default() },
        ..NewOrder::default()
    }
}

/// All orders with the reference, and how often the wallet paid for them.
pub(crate) async fn orders_and_debits(
    waybill: &Waybill,
    reference: &str,
) -> anyhow::Result<(Vec<Order>, usize)> {
    let filters = OrderFilters { order_reference: Some(reference.into()), ..OrderFilters::default() };
    let (mut orders, mut debits) = (Vec::new(), 0);
    let mut list = waybill.orders.list(filters);
    while let Some(order) = list.next().await? {
        let mut timeline = waybill.orders.timeline(&order.id)?;
        while let Some(entry) = timeline.next().await? {
            let is_debit =
                entry.kind == "money" && entry.fields.get("kind").is_some_and(|kind| kind == "delivery_fee");
            debits += usize::from(is_debit);
        }
        orders.push(order);
    }
    Ok((orders, debits))
}

/// Waits for nothing, and records for how long it should have waited.
#[derive(Default)]
pub(crate) struct NoPauses {
    pub(crate) jitter: f64,
    pauses: Mutex<Vec<Duration>>,
}

impl NoPauses {
    pub(crate) fn new(jitter: f64) -> Arc<Self> {
        Arc::new(Self { jitter, pauses: Mutex::default() })
    }

    pub(crate) fn pauses_ms(&self) -> Vec<u128> {
        let pauses = self.pauses.lock().unwrap_or_else(PoisonError::into_inner);
        pauses.iter().map(Duration::as_millis).collect()
    }
}

impl Environment for NoPauses {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.pauses.lock().unwrap_or_else(PoisonError::into_inner).push(duration);
        Box::pin(std::future::ready(()))
    }

    fn jitter(&self) -> f64 {
        self.jitter
    }
}

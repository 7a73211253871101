//! A fake order-api. It stores the payments of orders, and can be unavailable or slow.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix_web::web::{Data, Json, Query};
use actix_web::{HttpResponse, web};
use chrono::{DateTime, TimeDelta, Utc};
use domain::{BusinessId, CodStatus, Mode, OrderId, Paise};
use internal_api::Page;
use internal_api::orders::{OrderPayment, PaymentsQuery};
use serde_json::Value;
use url::Url;
use wallet::Settings;

#[derive(Default)]
struct State {
    orders: BTreeMap<OrderId, OrderPayment>,
    unavailable: bool,
    pause: Duration,
    /// Concurrent calls: now, and the maximum so far.
    calls: [usize; 2],
    /// The number of queries per order id.
    queries: BTreeMap<OrderId, usize>,
}

#[derive(Clone)]
pub(crate) struct FakeOrders {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl FakeOrders {
    pub(crate) fn start() -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Data::from(state.clone());
        let address = test_kit::serve(move |app| {
            app.app_data(shared.clone())
                .route("/internal/orders/payments", web::get().to(changed))
                .route("/internal/orders/payments", web::post().to(of));
        });
        Self { address, state }
    }

    pub(crate) fn url(&self) -> Url {
        test_kit::url(self.address)
    }

    pub(crate) fn settings(&self, settings: &mut Settings) {
        settings.peers.order_api = self.url();
    }

    /// Adds a placed live order that changed long ago, so none of its steps is under way.
    pub(crate) fn place(&self, id: OrderId, business_id: BusinessId, fee: i64, now: DateTime<Utc>) {
        let order = OrderPayment {
            id,
            business_id,
            mode: Mode::Live,
            placed: true,
            delivery_fee_paise: Paise::new(fee),
            cod_amount_paise: Paise::new(700),
            cod_status: CodStatus::Pending,
            delivered: false,
            refund_due: false,
            changed_at: now - TimeDelta::minutes(2),
        };
        self.lock().orders.insert(id, order);
    }

    pub(crate) fn change(&self, id: OrderId, change: impl FnOnce(&mut OrderPayment)) {
        change(self.lock().orders.get_mut(&id).expect("the order is there"));
    }

    pub(crate) fn forget(&self, id: OrderId) {
        self.lock().orders.remove(&id).expect("the order is there");
    }

    pub(crate) fn set_unavailable(&self, unavailable: bool) {
        self.lock().unavailable = unavailable;
    }

    pub(crate) fn set_delay(&self, pause: Duration) {
        self.lock().pause = pause;
    }

    pub(crate) fn concurrent_calls_max(&self) -> usize {
        self.lock().calls[1]
    }

    pub(crate) fn queries_for(&self, id: OrderId) -> usize {
        self.lock().queries.get(&id).copied().unwrap_or_default()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("no test panics with the lock")
    }
}

async fn pause(state: &Data<Mutex<State>>) {
    let pause = {
        let mut state = state.lock().expect("no test panics with the lock");
        state.calls[0] += 1;
        state.calls[1] = state.calls[1].max(state.calls[0]);
        state.pause
    };
    tokio::time::sleep(pause).await;
    state.lock().expect("no test panics with the lock").calls[0] -= 1;
}

async fn changed(query: Query<PaymentsQuery>, state: Data<Mutex<State>>) -> HttpResponse {
    pause(&state).await;
    let state = state.lock().expect("no test panics with the lock");
    if state.unavailable {
        return HttpResponse::ServiceUnavailable().finish();
    }
    let cursor = (query.changed_after, query.starting_after.unwrap_or(OrderId::MAX));
    let mut orders: Vec<_> = state
        .orders
        .values()
        .filter(|order| order.placed && order.mode == Mode::Live && (order.changed_at, order.id) > cursor)
        .cloned()
        .collect();
    orders.sort_by_key(|order| (order.changed_at, order.id));
    HttpResponse::Ok().json(Page::cut(orders, query.limit))
}

async fn of(body: Json<Value>, state: Data<Mutex<State>>) -> HttpResponse {
    pause(&state).await;
    let mut state = state.lock().expect("no test panics with the lock");
    if state.unavailable {
        return HttpResponse::ServiceUnavailable().finish();
    }
    let ids: Vec<OrderId> = serde_json::from_value(body["ids"].clone()).expect("ids");
    for id in &ids {
        *state.queries.entry(*id).or_default() += 1;
    }
    let orders: Vec<_> = ids.iter().filter_map(|id| state.orders.get(id).cloned()).collect();
    HttpResponse::Ok().json(orders)
}

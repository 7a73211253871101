//! Fakes of the peers of order-api, on one listener with one path for each (`/wallet/internal/…`).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use actix_web::middleware::from_fn;
use actix_web::web::{Data, Json, Path, get, post, put, resource, scope};
use actix_web::{App, HttpResponse, HttpServer};
use domain::{BusinessId, Clock, Entropy, GoLiveItem, OrderId, Paise, TransferId};
use internal_api::Page;
use internal_api::keys::{AuthenticatedKey, KeyVerification, VerifyKey};
use internal_api::ordering::{OrderingContext, PickupProfile};
use internal_api::wallet::{DebitAnswer, DebitOutcome, DebitRequest, EntryView};
use internal_api::webhooks::OrderDeliveryView;
use serde_json::json;
use tokio::sync::watch;

/// The data of the fakes.
struct Known {
    keys: HashMap<String, AuthenticatedKey>,
    expired: HashSet<String>,
    /// All verified keys, valid or not.
    looked_up: Vec<String>,
    ordering: HashMap<BusinessId, OrderingContext>,
    balances: HashMap<BusinessId, Paise>,
    debts: HashMap<BusinessId, Paise>,
    debits: BTreeMap<(OrderId, i32), (DebitRequest, DebitAnswer)>,
    /// Businesses whose voids are refused.
    voids_refused: HashSet<BusinessId>,
    entries: Vec<EntryView>,
    clock: Clock,
    entropy: Entropy,
    violations: Vec<String>,
}

struct Shared {
    known: Mutex<Known>,
    debits: watch::Sender<Debits>,
}

/// When the fake wallet takes debits, and when it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Debits {
    Answered,
    /// They wait before the wallet decides.
    HeldBefore,
    /// They are decided, and the answers wait.
    HeldAfter,
}

#[derive(Clone)]
pub(crate) struct Peers {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

impl Drop for Peers {
    /// A panic in a fake would only cause a 503.
    fn drop(&mut self) {
        let violations = std::mem::take(&mut self.known().violations);
        assert!(violations.is_empty() || std::thread::panicking(), "wrong calls: {violations:?}");
    }
}

impl Peers {
    pub(crate) fn start(clock: Clock, entropy: Entropy) -> Self {
        let known = Known {
            keys: HashMap::new(),
            expired: HashSet::new(),
            looked_up: Vec::new(),
            ordering: HashMap::new(),
            balances: HashMap::new(),
            debts: HashMap::new(),
            debits: BTreeMap::new(),
            voids_refused: HashSet::new(),
            entries: Vec::new(),
            clock,
            entropy,
            violations: Vec::new(),
        };
        let shared =
            Arc::new(Shared { known: Mutex::new(known), debits: watch::Sender::new(Debits::Answered) });
        let (data, token) = (Data::from(shared.clone()), Data::new(settings::Internal::default()));
        let app = move || {
            App::new()
                .app_data(data.clone())
                .app_data(token.clone())
                .wrap(from_fn(web::require_internal_token))
                .service(resource("/key-management/internal/api-keys/verify").route(post().to(verify)))
                .service(
                    resource("/portal-api/internal/businesses/{business}/ordering").route(get().to(ordering)),
                )
                .service(
                    scope("/wallet/internal")
                        .service(resource("/debits/{order}/{attempt}").route(put().to(debit)))
                        .service(resource("/debits/{order}/{attempt}/void").route(post().to(void)))
                        .service(
                            resource("/wallets/{business}/orders/{order}/entries").route(get().to(entries)),
                        ),
                )
                .service(
                    resource(
                        "/webhook-dispatcher/internal/businesses/{business}/orders/{order}/webhook-deliveries",
                    )
                    .route(get().to(deliveries)),
                )
                .service(
                    resource("/webhook-dispatcher/internal/businesses/{business}/event-deliveries")
                        .route(post().to(deliveries_of_events)),
                )
        };
        let server = HttpServer::new(app).workers(1).disable_signals().bind("127.0.0.1:0").unwrap();
        let address = server.addrs()[0];
        tokio::spawn(server.run());
        Self { address, shared }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.shared.known.lock().unwrap()
    }

    pub(crate) fn know_key(&self, text: &str, key: AuthenticatedKey) {
        self.known().keys.insert(text.to_owned(), key);
    }

    /// Removes a key from key-management and returns it.
    pub(crate) fn forget_key(&self, text: &str) -> AuthenticatedKey {
        self.known().keys.remove(text).expect("a known key")
    }

    /// key-management says that the key has expired.
    pub(crate) fn expire_key(&self, text: &str) {
        self.forget_key(text);
        self.known().expired.insert(text.to_owned());
    }

    /// How often key-management verified the key.
    pub(crate) fn look_ups(&self, text: &str) -> usize {
        self.known().looked_up.iter().filter(|key| *key == text).count()
    }

    /// Sets the missing go-live items and the pickup profile of a business.
    pub(crate) fn set_ordering(
        &self,
        business: BusinessId,
        missing: &[GoLiveItem],
        pickup: Option<PickupProfile>,
    ) {
        let context = OrderingContext { missing: missing.to_vec(), closing: false, pickup };
        self.known().ordering.insert(business, context);
    }

    /// The closing of the business has begun.
    pub(crate) fn begin_closing(&self, business: BusinessId) {
        if let Some(context) = self.known().ordering.get_mut(&business) {
            context.missing = vec![GoLiveItem::LiveAccessActive];
            context.closing = true;
        }
    }

    pub(crate) fn set_balance(&self, business: BusinessId, paise: i64) {
        self.known().balances.insert(business, Paise::new(paise));
    }

    pub(crate) fn set_debt(&self, business: BusinessId, paise: i64) {
        self.known().debts.insert(business, Paise::new(paise));
    }

    pub(crate) fn balance(&self, business: BusinessId) -> i64 {
        self.known().balances[&business].get()
    }

    /// The wallet's entries of an order: kind and amount.
    pub(crate) fn entries_of(&self, order: OrderId) -> Vec<(String, i64)> {
        let entries = &self.known().entries;
        let of_order = entries.iter().filter(|entry| entry.order_id == Some(order));
        of_order.map(|entry| (entry.kind.clone(), entry.amount_paise.get())).collect()
    }

    /// The outcomes of all debits, by order and attempt.
    pub(crate) fn outcomes(&self) -> Vec<DebitOutcome> {
        self.known().debits.values().map(|(_, answer)| answer.outcome).collect()
    }

    /// Sets whether the wallet refuses voids of this business.
    pub(crate) fn refuse_voids_of(&self, business: BusinessId, refused: bool) {
        let voids_refused = &mut self.known().voids_refused;
        if refused {
            voids_refused.insert(business)
        } else {
            voids_refused.remove(&business)
        };
    }

    pub(crate) fn hold_debits(&self, debits: Debits) {
        self.shared.debits.send_replace(debits);
    }
}

impl Known {
    /// Like the wallet: the first call decides an attempt, and a repeated call returns the same.
    fn decide(
        &mut self,
        (order, attempt): (OrderId, i32),
        request: DebitRequest,
        is_void: bool,
    ) -> DebitAnswer {
        if let Some((first, answer)) = self.debits.get(&(order, attempt)) {
            if *first != request {
                self.violations.push(format!("another debit under {order}/{attempt}"));
            }
            return *answer;
        }
        let balance = self.balances.get(&request.business_id).copied().unwrap_or(Paise::ZERO);
        let left = balance.get() - request.amount_paise.get();
        let outcome = match (is_void, left) {
            (true, _) => DebitOutcome::Voided,
            (false, 0..) => DebitOutcome::Posted,
            (false, _) => DebitOutcome::Rejected,
        };
        let balance_paise = if outcome == DebitOutcome::Posted { Paise::new(left) } else { balance };
        let debt = self.debts.get(&request.business_id).filter(|_| outcome == DebitOutcome::Rejected);
        let answer = DebitAnswer { outcome, balance_paise, owed_paise: debt.copied().unwrap_or_default() };
        if outcome == DebitOutcome::Posted {
            self.post(order, request, balance_paise);
        }
        self.debits.insert((order, attempt), (request, answer));
        answer
    }

    fn post(&mut self, order: OrderId, request: DebitRequest, balance: Paise) {
        if self.entries.iter().any(|entry| entry.order_id == Some(order)) {
            self.violations.push(format!("{order} is paid a second time"));
        }
        self.balances.insert(request.business_id, balance);
        self.entries.push(EntryView {
            reverses: None,
            reason: None,
            takes_back: None,
            left_paise: None,
            owed_paise: Paise::ZERO,
            id: (self.entries.len() + 1).to_string(),
            transfer_id: TransferId::generate(&self.clock, &self.entropy),
            kind: "delivery_fee".to_owned(),
            amount_paise: Paise::new(-request.amount_paise.get()),
            balance_after_paise: balance,
            order_id: Some(order),
            order_reference: None,
            reference: None,
            created_at: self.clock.now(),
        });
    }
}

async fn verify(shared: Data<Shared>, asked: Json<VerifyKey>) -> Json<KeyVerification> {
    let mut known = shared.known.lock().unwrap();
    known.looked_up.push(asked.key.clone());
    let key = known.keys.get(&asked.key).cloned();
    Json(KeyVerification { key, expired: known.expired.contains(&asked.key) })
}

async fn ordering(shared: Data<Shared>, business: Path<BusinessId>) -> HttpResponse {
    match shared.known.lock().unwrap().ordering.get(&*business) {
        Some(context) => HttpResponse::Ok().json(context),
        None => {
            HttpResponse::NotFound().json(json!({ "code": "business_not_found", "message": "no business" }))
        }
    }
}

async fn debit(
    shared: Data<Shared>,
    path: Path<(OrderId, i32)>,
    request: Json<DebitRequest>,
) -> Json<DebitAnswer> {
    let mut debits = shared.debits.subscribe();
    // The sender lives as long as the fakes.
    let _held = debits.wait_for(|debits| *debits != Debits::HeldBefore).await.map(drop);
    let answer = shared.known.lock().unwrap().decide(*path, *request, false);
    let _held = debits.wait_for(|debits| *debits != Debits::HeldAfter).await.map(drop);
    Json(answer)
}

async fn void(shared: Data<Shared>, path: Path<(OrderId, i32)>, request: Json<DebitRequest>) -> HttpResponse {
    let mut known = shared.known.lock().unwrap();
    if known.voids_refused.contains(&request.business_id) {
        return HttpResponse::Conflict().json(json!({ "code": "debit_differs", "message": "another debit" }));
    }
    HttpResponse::Ok().json(known.decide(*path, *request, true))
}

async fn entries(shared: Data<Shared>, path: Path<(BusinessId, OrderId)>) -> Json<Vec<EntryView>> {
    let known = shared.known.lock().unwrap();
    Json(known.entries.iter().filter(|entry| entry.order_id == Some(path.1)).cloned().collect())
}

/// No business has an endpoint.
async fn deliveries() -> Json<Page<OrderDeliveryView>> {
    Json(Page { data: Vec::new(), has_more: false })
}

async fn deliveries_of_events() -> Json<Vec<OrderDeliveryView>> {
    Json(Vec::new())
}

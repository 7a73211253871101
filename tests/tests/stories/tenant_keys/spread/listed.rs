//! The partitioned tables, and the expected statements on them.

use local_stack::Service;

pub(super) struct Spread {
    pub(super) service: Service,
    pub(super) tables: &'static [&'static str],
    /// All upserts, as `table: conflict action`.
    pub(super) upserts: &'static [&'static str],
    /// Statements that also search other partitions: a part of their text, and the reason.
    pub(super) everywhere: &'static [(&'static str, &'static str)],
}

const RECONCILIATION: &str = "Reconciliation reads the ledgers of all businesses, page by page.";
const ORDER: &str = "The order is searched in all businesses, because another business's order is not new.";
const ALERTS: &str = "Metrics count the rows of all businesses.";
const WORKER: &str = "A worker finds due rows of all businesses.";
const BATCH: &str = "A batch for several businesses: PostgreSQL prunes by a value, not by an array.";
const ENDPOINT: &str = "Senders serve all businesses and identify queues by endpoint.";

pub(super) const SPREAD: [Spread; 3] = [
    Spread {
        service: Service::OrderApi,
        tables: &["orders", "order_events", "fleet_reports", "simulations"],
        upserts: &["fleet_reports: NOTHING", "orders: NOTHING", "simulations: UPDATE"],
        everywhere: &[
            ("fleet_reports.event_id = $1", "The fleet uses each of its ids once."),
            (
                "(orders.id = $1) AND orders.mode = 'live') AND orders.placement =",
                "The fleet names only the order.",
            ),
            (
                "orders.mode = 'live' AND orders.placement = 'placed') AND (orders.updated_at <",
                "The fleet lists all orders.",
            ),
            ("orders.tracking_code = $1", "The tracking page knows only the code."),
            ("min(orders.pending_since)", ALERTS),
            ("(orders.pending_since < $1)", WORKER),
            ("orders.personal_data_erased_at IS NULL AND (orders.status IN", WORKER),
            ("simulations.next_at <= $1", WORKER),
            ("FROM orders WHERE (orders.id = ANY($1))", RECONCILIATION),
        ],
    },
    Spread {
        service: Service::Wallet,
        tables: &["wallets", "transfers", "entries", "debits", "cash"],
        upserts: &["cash: NOTHING", "wallets: NOTHING"],
        everywhere: &[
            ("AS wrong (subject, detail)", RECONCILIATION),
            ("AS chunk", RECONCILIATION),
            ("(debits.order_id > $1)", RECONCILIATION),
            ("(transfers.id > $1)", RECONCILIATION),
            ("(cash.order_id > $1)", RECONCILIATION),
            ("(cash.order_id = ANY($1))", RECONCILIATION),
            ("(transfers.order_id = ANY($1))", RECONCILIATION),
            ("(debits.order_id = ANY($1))", ORDER),
            ("EXISTS ( SELECT FROM new_", "Triggers check each transfer of a batch for several businesses."),
            ("AS age, count(*) AS orders", "The outstanding cash of all businesses, for the operator."),
            ("FROM cash WHERE settled_at IS NULL AND due_since < $1", ALERTS),
            ("FROM cash WHERE business_id = ANY($1)", BATCH),
            ("closed.resolution IS NOT NULL) AND business_id = ANY($1)", BATCH),
            ("FROM wallets WHERE (wallets.business_id = ANY($1))", BATCH),
        ],
    },
    Spread {
        service: Service::WebhookDispatcher,
        tables: &[
            "endpoints",
            "endpoint_health",
            "endpoint_notices",
            "order_streams",
            "held_back_events",
            "events",
            "deliveries",
            "attempts",
            "recoveries",
        ],
        upserts: &[
            "deliveries: NOTHING",
            "events: NOTHING",
            "order_streams: NOTHING",
            "order_streams: UPDATE",
            "recoveries: NOTHING",
        ],
        everywhere: &[
            ("(business_id, endpoint_id, id) < ($1, $2, $3)", "A page's bounds are compared as rows."),
            ("FROM order_streams WHERE order_id = ANY ($1) ORDER BY", ORDER),
            ("FROM attempts_default", WORKER),
            ("WITH portion AS", WORKER),
            ("next_secret_from <= $1", WORKER),
            ("FROM recoveries AS job", WORKER),
            ("AS stuck", WORKER),
            ("AS left_over", WORKER),
            ("UPDATE deliveries SET state = 'parked'", WORKER),
            ("parked_fate = 'replay'", WORKER),
            ("parked_fate = 'discard'", WORKER),
            ("parked_fate IS NOT NULL AND NOT EXISTS", WORKER),
            ("health.failing_since <= health.last_delivery_at", WORKER),
            ("min(held_back_events.held_back_at)", ALERTS),
            ("secret_key_id <> ALL ($1)", ALERTS),
            ("count(*) FILTER (WHERE tripped_until", ALERTS),
            ("WITH RECURSIVE queues", ENDPOINT),
            ("AS page (endpoint_id, business_id, since)", ENDPOINT),
            ("AS queued", BATCH),
            ("AS asked (endpoint_id, business_id", ENDPOINT),
            ("ON news.endpoint_id = health.endpoint_id", ENDPOINT),
            ("WHERE health.endpoint_id = news.endpoint_id", ENDPOINT),
            ("AS queue (endpoint_id, order_id)", ENDPOINT),
            ("WHERE endpoint_id = $1 AND due_at > $2", ENDPOINT),
            ("WITH stored AS", ENDPOINT),
        ],
    },
];

//! PostgreSQL. Every query on behalf of a business filters by that business; those of the senders, who serve all of
//! them, say so.

mod attempts;
mod claims;
mod deliveries;
mod endpoints;
mod events;
mod failing;
mod hand_out;
mod health;
mod log;
mod of_order;
mod parked;
mod personal_data;
mod queues;
mod record;
mod recoveries;
mod retention;
mod schema;
mod secrets;
mod streams;
mod stuck;
mod subscribers;
mod sweep;
mod unsubscribed;

pub(crate) use attempts::attempts_of;
pub(crate) use claims::{Claim, Claimed, Lease, Load, claim, release, renew};
pub(crate) use deliveries::{bring_forward, find_delivery, find_for_redelivery, send_again};
pub(crate) use endpoints::{
    EndpointChange, businesses_with_endpoints, count_endpoints, delete_endpoint, find_endpoint,
    insert_endpoint, list_endpoints, lock_business, update_endpoint,
};
pub(crate) use events::body_of;
pub(crate) use failing::{Notice, breakers, failing_endpoints, oldest_due, tell};
pub(crate) use hand_out::{NewDelivery, Standing, hand_out};
pub(crate) use health::{EndpointNews, bring_forward_all, enable, forget_test, note_forgery};
pub(crate) use log::{DeliveryFilter, LogPage, list_deliveries};
pub(crate) use of_order::{Position, deliveries_of_order, delivery_of_order};
pub(crate) use parked::{
    decide_parked, discard_parked, forget_fates, lock_queue_of_parked, park_of, park_of_disabled,
    replay_parked,
};
pub(crate) use personal_data::{erase_bodies, erase_parked, forget_answers, mark_erased};
pub(crate) use queues::advance;
pub(crate) use record::{Outcome, Recorded, Then, record, record_state};
pub(crate) use recoveries::{
    begin_recovery, count_portion, end_recovery, find_recovery, list_recoveries, lock_due_recovery,
    put_off_recovery, recover_portion,
};
pub(crate) use retention::{
    add_partition, attempts_without_day, drop_partition, drop_strays, partitions, prune_deliveries,
    prune_events, prune_streams, try_lock_retention,
};
pub(crate) use secrets::{
    SealedRow, count_sealed_otherwise, find_target, fold_secrets, lock_sealed_otherwise, lock_secrets,
    write_secrets,
};
pub(crate) use streams::{
    OrderPlace, Stream, advance_streams, begin_streams, forget_erasures, lock_streams, park, parked_overview,
    parked_places, take_parked,
};
pub(crate) use stuck::step_aside;
pub(crate) use subscribers::{Subscriber, subscribers};
pub(crate) use sweep::discard_of_deleted;
pub(crate) use unsubscribed::add_unsubscribed_portion;

use diesel_migrations::{EmbeddedMigrations, embed_migrations};
use postgres::StoreError;

/// This service's tables.
pub const MIGRATIONS: EmbeddedMigrations = embed_migrations!();

fn corrupt(error: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt(format!("webhooks: {error}"))
}

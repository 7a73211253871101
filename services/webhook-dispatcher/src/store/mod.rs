//! PostgreSQL. Queries on behalf of a business filter by that business. Others state that they serve all businesses.

mod announcements;
mod attempts;
mod claims;
mod deleted_endpoints;
mod deliveries;
mod endpoints;
mod events;
mod failing;
mod fan_out;
mod health;
mod held_back;
mod instances;
mod leases;
mod log;
mod monitoring;
mod newly_subscribed;
mod order_timeline;
mod parked;
mod personal_data;
mod queues;
mod record;
mod recoveries;
mod retention;
mod scan;
mod schema;
mod secrets;
mod skipping;
mod streams;
mod subscribers;
mod time;

pub(crate) use announcements::announce;
pub(crate) use attempts::attempts_of;
pub(crate) use claims::{Ask, ClaimRequest, ClaimedDelivery, claim};
pub(crate) use deleted_endpoints::{delete_closed, discard_for_deleted_endpoints};
pub(crate) use deliveries::{
    find_delivery, find_for_redelivery, request_attempt, request_unless_received, send_again,
};
pub(crate) use endpoints::{
    EndpointChange, businesses_with_endpoints, count_endpoints, delete_endpoint, find_endpoint,
    insert_endpoint, list_endpoints, lock_business, update_endpoint,
};
pub(crate) use events::body_of;
pub(crate) use failing::{FailingEndpoint, Notice, failing_endpoints, record_notices};
pub(crate) use fan_out::{InitialState, NewDelivery, Success, fan_out};
pub(crate) use health::{bring_forward_endpoint, enable, record_forgery_test, reset_test};
pub(crate) use held_back::{OrderPosition, held_back_events, held_back_overview, hold_back, take_held_back};
pub(crate) use instances::{INSTANCE_RENEWAL, Member, join_instances, remove_instance, renew_instance};
pub(crate) use leases::{LEASE, Lease, release_leases, renew_leases};
pub(crate) use log::list_deliveries;
pub(crate) use monitoring::{Breakers, breakers};
pub(crate) use newly_subscribed::add_newly_subscribed;
pub(crate) use order_timeline::{deliveries_of_events, deliveries_of_order, delivery_of_order};
pub(crate) use parked::{
    clear_parked_decisions, discard_parked, lock_queue_of_parked_delivery, park_for_disabled_endpoints,
    park_for_endpoint, replay_parked, set_parked_decision,
};
pub(crate) use personal_data::{erase_bodies, erase_held_back, erase_responses, mark_erased};
pub(crate) use queues::{LockedQueues, orders_with_queues};
pub(crate) use record::{Inserted, NextState, Outcome, Recorded, record, record_state};
pub(crate) use recoveries::{
    begin_recovery, count_batch, end_recovery, find_recovery, list_recoveries, lock_due_recovery,
    postpone_recovery, recover_batch,
};
pub(crate) use retention::{
    add_partition, attempts_in_default_partition, delete_expired_in_default_partition, drop_partition,
    partitions, prune_deliveries, prune_events, prune_streams, try_lock_retention,
};
pub(crate) use scan::{DuePage, scan_due};
pub(crate) use secrets::{
    EndpointSecrets, count_secrets_of_other_keys, find_target, lock_secrets, lock_secrets_of_other_keys,
    promote_staged_secrets, write_secrets,
};
pub(crate) use skipping::skip_blocking;
pub(crate) use streams::{Stream, advance_streams, begin_streams, clear_erasures, find_streams};
pub(crate) use subscribers::{Subscriber, subscribers};
pub(crate) use time::now;

use chassis::Tables;
use diesel_migrations::embed_migrations;
use postgres::StoreError;

/// This service's tables.
pub const TABLES: Tables = Tables {
    migrations: embed_migrations!(),
    // Its role makes and drops tables itself, so it owns them all.
    rights: "",
};

fn corrupt(error: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt(format!("webhooks: {error}"))
}

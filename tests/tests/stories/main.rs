//! End-to-end tests with whole stacks on real servers. One program, so that it is linked once.

mod error_bodies;
mod events_feed;
mod faults;
mod graceful_restart;
mod hung_peers;
mod live_order_steps;
mod main_job;
mod money;
mod monitoring;
mod personal_data;
mod portal_orders;
mod reading;
mod reconciliation;
mod restore;
mod restore_portal;
mod schema_first;
mod simulations;
mod stopping;
mod tenant_keys;
mod traces;
mod two_tenants;

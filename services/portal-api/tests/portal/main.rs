//! Tests of portal-api with a real PostgreSQL and RabbitMQ. A small HTTP server plays the other services.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a helper that fails fails its test")]

mod accounts;
mod answers;
mod api_keys;
mod approval_links;
mod approval_races;
mod approvals;
mod audit_log;
mod client;
mod console;
mod events;
mod go_live;
mod limits;
mod log_in_races;
mod mail_folder;
mod mails;
mod money;
mod operator;
mod operator_log;
mod operator_roles;
mod operator_session;
mod operator_support;
mod operator_tokens;
mod outage;
mod owners;
mod pages;
mod password_resets;
mod passwords;
mod peers;
mod people;
mod portal;
mod process;
mod profile;
mod relays;
mod roles;
mod sessions;
mod staff;
mod status;
mod status_stream;
mod stream;

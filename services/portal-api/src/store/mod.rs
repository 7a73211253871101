//! The tables of this service. Rows stay private; functions return types of [`crate::domain`].

pub(crate) mod audit_log;
pub(crate) mod business_sso;
pub(crate) mod businesses;
pub(crate) mod closings;
pub(crate) mod console_sessions;
pub(crate) mod contacts;
pub(crate) mod email_confirmations;
pub(crate) mod go_live;
pub(crate) mod mails;
pub(crate) mod memberships;
pub(crate) mod operator_audit_log;
pub(crate) mod pickup_profiles;
pub(crate) mod refusals;
pub(crate) mod schema;
pub(crate) mod staff;
pub(crate) mod staff_notes;
pub(crate) mod user_accounts;
pub(crate) mod user_sessions;
pub(crate) mod users;

use chassis::Tables;
use diesel_migrations::embed_migrations;

pub const TABLES: Tables = Tables { migrations: embed_migrations!("migrations"), rights: postgres::ROWS };

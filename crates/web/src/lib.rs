//! The HTTP side of every service: error bodies, request ids, request parsing, pagination, rate limits, health,
//! internal authentication, and a graceful shutdown.

mod address_limits;
mod auth;
mod body;
mod caller_address;
mod edge;
mod error;
mod failures;
mod fair_slots;
mod field_error;
mod fields;
mod health;
mod http_errors;
mod idempotency;
mod limit_clock;
mod query;
mod rate;
mod read_body;
mod run;
mod server;
mod spans;
mod static_files;
mod strict_json;
mod tasks;
mod text_rule;
mod write_deadline;

pub use address_limits::AddressLimit;
pub use auth::{accepted_token, bearer_token, require_internal_token};
pub use body::{
    BODY_DEADLINE, BODY_MAX_BYTES, BodyDeadline, BodyLimit, JsonBody, read_bytes, read_json,
    read_optional_json,
};
pub use caller_address::{CallerAddress, caller_ip};
pub use edge::{RequestEdge, edge};
pub use error::ApiError;
pub use failures::{FailureLimits, too_many_failures};
pub use fair_slots::{FairSlot, FairSlots, NoFreeSlot};
pub use field_error::{FieldError, FieldErrors};
pub use fields::{Fields, PHONE_TEXT, PINCODE_TEXT};
pub use health::{Readiness, management_routes};
pub use idempotency::{IDEMPOTENCY_KEY_MAX, idempotency_key};
pub use limit_clock::LimitClock;
pub use query::{
    PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, PageQuery, QueryFields, no_query, page_query, read_query,
};
pub use rate::{Exceeded, Policy, RATE_LIMIT, RATE_LIMIT_POLICY, Standing};
pub use read_body::{read_body, read_no_fields, read_object};
pub use run::{Servers, Workers, run};
pub use server::{Listener, ServeOptions, StopSignal, listen};
pub use static_files::{FolderLimits, content_tag, content_type, files_below};
pub use tasks::Tasks;
pub use text_rule::{TextError, TextRule, one_line};

//! Use cases that write, one per file. Each owns its transaction.

mod accept;
mod activate_secret;
mod advance_recovery;
mod apply_retention;
mod create_endpoint;
mod decide_on_parked;
mod delete_endpoint;
mod disable_failing;
mod erase_business;
mod erase_personal_data;
mod promote_staged_secrets;
mod recoveries;
mod redeliver;
mod rewrap_secrets;
mod rotate_secret;
mod sweep_deliveries;
mod test_endpoint;
mod update_endpoint;

pub(crate) use accept::{AcceptError, EventIntake, WAYS};
pub(crate) use activate_secret::{ActivateError, activate_secret};
pub(crate) use advance_recovery::{RecoveryStep, advance_recovery};
pub(crate) use apply_retention::apply_retention;
pub(crate) use create_endpoint::{CreateError, CreatedEndpoint, NewEndpoint, create_endpoint};
pub(crate) use decide_on_parked::{ParkedError, decide_on_parked};
pub(crate) use delete_endpoint::delete_endpoint;
pub(crate) use disable_failing::disable_failing;
pub(crate) use erase_business::erase_business;
pub(crate) use erase_personal_data::{EraseError, erase_personal_data};
pub(crate) use promote_staged_secrets::promote_staged_secrets;
pub(crate) use recoveries::{RecoverError, begin_recovery, cancel_recovery};
pub(crate) use redeliver::{RedeliverError, Redelivered, RedeliveryEffect, redeliver};
pub(crate) use rewrap_secrets::{Rewrapped, rewrap_secrets};
pub(crate) use rotate_secret::{RotateError, Rotation, rotate_secret};
pub(crate) use sweep_deliveries::{
    discard_for_deleted_endpoints, park_for_disabled_endpoints, resolve_parked, skip_blocking,
};
pub(crate) use test_endpoint::{TestError, TestOutcome, test_endpoint};
pub(crate) use update_endpoint::{Activity, EndpointUpdate, UpdateError, update_endpoint};

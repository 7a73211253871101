//! What can be done, one use case per file. Each owns its transaction.

mod accept;
mod activate_secret;
mod create_endpoint;
mod decide_parked;
mod delete_endpoint;
mod erase_personal_data;
mod recover;
mod redeliver;
mod rotate_secret;
mod test_endpoint;
mod update_endpoint;
mod verify_signature;

pub(crate) use accept::{AcceptError, Intake, accept};
pub(crate) use activate_secret::{ActivateError, activate_secret};
pub(crate) use create_endpoint::{CreateError, CreatedEndpoint, NewEndpoint, create_endpoint};
pub(crate) use decide_parked::{ParkedError, decide_parked};
pub(crate) use delete_endpoint::delete_endpoint;
pub(crate) use erase_personal_data::{EraseError, erase_personal_data};
pub(crate) use recover::{RecoverError, begin_recovery, cancel_recovery};
pub(crate) use redeliver::{RedeliverError, Redelivered, redeliver};
pub(crate) use rotate_secret::{RotateError, Rotation, rotate_secret};
pub(crate) use test_endpoint::{TestError, TestOutcome, test_endpoint};
pub(crate) use update_endpoint::{Activity, EndpointUpdate, UpdateError, update_endpoint};
pub(crate) use verify_signature::{VerifyError, verify_signature};

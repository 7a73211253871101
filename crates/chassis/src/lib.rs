//! The chassis of a service: what every service holds, how it starts and how it stops. A service adds its routes, its
//! consumers and its workers.

mod assembly;
mod commands;
mod health;
mod program;
mod reconciliation;
mod running;
mod sections;
mod tables;

pub use assembly::Chassis;
pub use program::{command, main, told_to};
pub use reconciliation::{ReconcileArguments, ReconcileFinding, ReconcileReport};
pub use running::Running;
pub use sections::{Sections, ServiceSettings};
pub use tables::migrate;

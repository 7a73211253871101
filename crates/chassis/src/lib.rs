//! The chassis of a service: shared resources, start, stop, and the command line. A service adds its routes, consumers
//! and workers.

mod assembly;
mod commands;
mod every;
mod health;
mod program;
mod running;
mod sections;
mod tables;

pub use assembly::Chassis;
pub use commands::NoCommands;
pub use every::every;
pub use program::{command, main};
pub use running::Running;
pub use sections::{Sections, ServiceSettings};
pub use tables::migrate;

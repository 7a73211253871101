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

/// Small allocations of many threads cost a quarter of a busy service's processor time with the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub use assembly::Chassis;
pub use commands::NoCommands;
pub use every::every;
pub use program::{command, main};
pub use running::Running;
pub use sections::{Sections, ServiceSettings, check_database};
pub use tables::Tables;

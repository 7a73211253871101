//! Fault tests: a seeded workload runs against real processes that are killed, paused, slowed down and disconnected, at
//! every named step of a live order and at random. Afterwards the callers' knowledge is compared with the databases
//! (SPECIFICATION §14).
//!
//! [`wire`] proxies every link of the stack; [`steps`] names the moments; [`harm`] injects faults; [`workload`]
//! contains the callers; [`verify`] compares; [`rounds`] combines them. `make test` runs a few rounds; `make
//! test-faults` continues where it stopped, towards a thousand kills.

mod harm;
mod rounds;
mod steps;
mod verify;
mod wire;
mod workload;

pub use rounds::{Campaign, RoundReport};
pub use verify::{ledger_is_sound, no_dead_letters};

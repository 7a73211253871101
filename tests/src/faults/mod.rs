//! Money under faults: a seeded workload against the real processes, while they are killed, paused, slowed down and cut off
//! at every named step of a live order and at random; then a model of what the callers were told is held against the
//! databases (SPECIFICATION §14).
//!
//! [`wire`] sits on every link of the stack and sees what passes; [`steps`] names the moments; [`harm`] is what is done
//! then; [`workload`] are the callers; [`verify`] compares; [`rounds`] puts them together. `make test` runs a few rounds,
//! `make test-faults` goes on from where it stopped, towards a thousand kills.

mod harm;
mod rounds;
mod steps;
mod verify;
mod wire;
mod workload;

pub use rounds::{Campaign, Tally};
pub use verify::{ledger_is_sound, no_dead_letters};

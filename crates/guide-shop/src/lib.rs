//! The shop of the guides: its database, its receiver and what it does with an event.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "an integrator's program reads the environment and prints"
)]

include!(concat!(env!("OUT_DIR"), "/lib.rs"));

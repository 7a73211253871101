//! The receiver of the guide `webhooks`, which prints each event.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "an integrator's program reads the environment and prints"
)]

include!(concat!(env!("OUT_DIR"), "/bin-receiver.rs"));

//! The program of the guide `first-order`.
#![expect(clippy::print_stdout, reason = "an integrator's program prints")]

include!(concat!(env!("OUT_DIR"), "/bin-order.rs"));

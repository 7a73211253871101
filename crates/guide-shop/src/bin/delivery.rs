//! The program of the guide `never-twice`.
#![expect(clippy::print_stdout, reason = "an integrator's program reads the environment and prints")]

include!(concat!(env!("OUT_DIR"), "/bin-delivery.rs"));

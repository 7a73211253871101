//! The program of the guide `catching-up`.

include!(concat!(env!("OUT_DIR"), "/bin-catch_up.rs"));

//! The shop's receiver of the guide `webhooks`.

include!(concat!(env!("OUT_DIR"), "/bin-server.rs"));

//! API keys: create, verify, rotate, revoke.

fn main() {}

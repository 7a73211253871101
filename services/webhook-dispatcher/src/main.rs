//! Endpoints, subscriptions, deliveries, attempts, signing, retries.

fn main() {}

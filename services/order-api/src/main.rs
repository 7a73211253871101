//! The integration API, the fleet API and the tracking page; owns orders and deliveries.

fn main() {}

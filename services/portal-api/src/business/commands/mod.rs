//! Use cases that write.

pub(crate) mod change_business;
pub(crate) mod put_pickup_profile;
pub(crate) mod request_subscription;

//! Use cases that write.

pub(crate) mod add_staff_note;
pub(crate) mod change_business;
pub(crate) mod change_contact;
pub(crate) mod closing;
pub(crate) mod complete_closing;
pub(crate) mod erase_closed;
pub(crate) mod open_items;
pub(crate) mod put_pickup_profile;
pub(crate) mod refuse_business;
pub(crate) mod request_subscription;

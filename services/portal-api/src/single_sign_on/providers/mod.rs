//! The identity providers of the operator, for its staff, and of businesses, for their users.

mod businesses;
mod staff;

pub(crate) use businesses::{BusinessProviders, BusinessProvidersOptions};
pub(crate) use staff::{StaffSignOn, StaffSignOnOptions};

//! Pure rules.

pub(crate) mod business;
pub(crate) mod business_change;
pub(crate) mod closing;
pub(crate) mod contact;
pub(crate) mod gstin;
pub(crate) mod pickup_profile;
pub(crate) mod problems;
pub(crate) mod refusal;
pub(crate) mod subscription;

pub(crate) use business::{
    Business, BusinessFilter, BusinessStatus, DoneSince, GoLiveFact, ListedBusiness, ListedStatus, Standing,
};
pub(crate) use business_change::BusinessChange;
pub(crate) use closing::{Closing, OpenItem, OpenItems};
pub(crate) use contact::{Contact, StaffNote};
pub(crate) use gstin::gstin;
pub(crate) use pickup_profile::PickupProfile;
pub(crate) use problems::{Problem, problems};
pub(crate) use refusal::Refusal;
pub(crate) use subscription::{Subscription, SubscriptionState};

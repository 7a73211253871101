//! Sending: workers take due deliveries, call the endpoints outside of any transaction, and write what came of it.

mod answer;
mod attempt;
mod dispatch;
mod exchange;
mod express;
mod in_hand;
mod loads;
mod names;
mod pace;
mod recorder;
mod signed;
mod test_places;

pub(crate) use attempt::{OUTCOMES, Sender, Webhook};
pub(crate) use dispatch::{dispatch, give_back, renew_leases};
pub(crate) use exchange::Exchange;
pub(crate) use express::{Express, Reservation, Taken};
pub(crate) use in_hand::{InHand, LEASE};
pub(crate) use loads::Loads;
pub(crate) use names::Names;
pub(crate) use recorder::Recorder;
pub(crate) use test_places::{NoPlace, TestPlaces};

//! Erases the personal data of orders that order-api has erased.

use std::sync::Arc;

use events::{Body, Envelope};
use messaging::{Handler, Rejection};

use crate::commands::{self, EraseError};
use crate::state::State;

pub(crate) struct Erasures(pub Arc<State>);

impl Handler for Erasures {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        // The queue is bound to this kind of event only.
        let Body::PersonalDataErased(erased) = envelope.body else { return Ok(()) };
        let (business, order, at) = (envelope.business_id, erased.order_id, erased.erased_at);
        let erased = commands::erase_personal_data(&self.0, business, order, at).await;
        erased.map_err(|error| match error {
            EraseError::Store(error) => outbox::rejection(&error),
            error @ EraseError::ForeignOrder => Rejection::Never(error.to_string()),
        })
    }
}

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
        match commands::erase_personal_data(&self.0, business, order, at).await {
            Ok(()) => Ok(()),
            Err(EraseError::Store(error)) if error.is_unavailable() => {
                Err(Rejection::Later(error.to_string()))
            }
            Err(error) => Err(Rejection::Never(error.to_string())),
        }
    }
}

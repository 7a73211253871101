//! Orders whose personal data was erased.

use events::{Body, Envelope};
use messaging::{Handler, Rejection};

use crate::app::App;
use crate::commands::{self, EraseError};

pub(crate) struct Erasures(pub App);

impl Handler for Erasures {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        // No binding brings anything else here.
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

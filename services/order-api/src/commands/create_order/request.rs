//! The request for an order.

use domain::RequestId;
use internal_api::keys::AuthenticatedKey;
use web::FieldError;

use crate::domain::{OrderDraft, RequestIdentity, Warning};

pub struct CreateOrder {
    pub caller: AuthenticatedKey,
    pub request_id: RequestId,
    pub identity: RequestIdentity,
    /// The field errors count only after replays and locked businesses are ruled out (SPECIFICATION §4.1, order of
    /// checks).
    pub draft: Result<OrderDraft, InvalidOrder>,
}

/// A body with field errors. The warnings may explain them: an error can follow from a misspelt name.
#[derive(Clone, Debug)]
pub struct InvalidOrder {
    pub field_errors: Vec<FieldError>,
    pub warnings: Vec<Warning>,
}

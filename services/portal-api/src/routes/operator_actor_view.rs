//! A person or token of the operator, in responses.

use serde::Serialize;

use crate::domain::OperatorActor;

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct OperatorActorView {
    /// `person`, `token`, `configuration`, `command`, or `unknown` for a failed log-in.
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) id: Option<String>,
    /// The e-mail address of the person, or the name of the token, at that time.
    pub(super) name: String,
}

impl From<&OperatorActor> for OperatorActorView {
    fn from(actor: &OperatorActor) -> Self {
        Self { kind: actor.kind().to_owned(), id: actor.id(), name: actor.name().to_owned() }
    }
}

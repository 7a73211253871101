//! A person or token of the operator, in responses.

use serde::Serialize;

use crate::domain::OperatorActor;

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct OperatorActorView {
    /// `person`, `token`, `configuration`, `command`, or `unknown` for a failed log-in.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) id: Option<String>,
    /// The e-mail address of the person, or the name of the token, at that time.
    pub(crate) name: String,
}

impl From<&OperatorActor> for OperatorActorView {
    fn from(actor: &OperatorActor) -> Self {
        Self { kind: actor.kind().to_owned(), id: actor.id(), name: actor.name().to_owned() }
    }
}

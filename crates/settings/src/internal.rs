//! The tokens of calls between the services.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Secret, comma_separated_parts, rules};

/// The authentication of calls between the services (`WAYBILL_INTERNAL__…`).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Internal {
    /// The token that this service sends with its internal calls. While no `WAYBILL_INTERNAL__CALLERS__…` is set, the
    /// service also accepts it, and all services need the same.
    pub token: Secret,
    pub callers: Callers,
}

/// The tokens that this service accepts (`WAYBILL_INTERNAL__CALLERS__…`). Services that call nobody are not in it.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Callers {
    /// The tokens that this service accepts from order-api: one to three, separated by commas, so that a new one is
    /// accepted before it is sent. If the tokens of any caller are set, no others are accepted.
    #[schemars(transform = rules::secrets)]
    pub order_api: Option<Secret>,
    /// As of order-api. portal-api itself needs it while its token is changed: links in waiting mails are encrypted
    /// with the token that it sends, and these decrypt them too.
    #[schemars(transform = rules::secrets)]
    pub portal_api: Option<Secret>,
    /// As of order-api.
    #[schemars(transform = rules::secrets)]
    pub wallet: Option<Secret>,
}

impl Default for Internal {
    fn default() -> Self {
        Self { token: Secret::new("local-internal-token-of-the-local-stack"), callers: Callers::default() }
    }
}

impl Internal {
    /// The caller's name of a token that several services send.
    pub const SHARED: &'static str = "shared";

    /// The accepted tokens, with the names of their callers.
    pub fn accepted(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let Callers { order_api, portal_api, wallet } = &self.callers;
        let callers = [("order-api", order_api), ("portal-api", portal_api), ("wallet", wallet)];
        let has_none = callers.iter().all(|(_, tokens)| tokens.is_none());
        let of_callers = callers.into_iter().flat_map(|(caller, tokens)| {
            let tokens = tokens.iter().flat_map(|tokens| comma_separated_parts(tokens.expose()));
            tokens.map(move |token| (caller, token))
        });
        of_callers.chain(has_none.then(|| (Self::SHARED, self.token.expose())))
    }
}

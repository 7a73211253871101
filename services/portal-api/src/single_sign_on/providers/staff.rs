//! The provider of the operator's staff, and what its groups mean.

use std::ops::Deref;
use std::sync::Arc;

use domain::Clock;
use identity::single_sign_on::{GroupRoles, ProviderHttp, RelyingParty, RelyingPartyOptions, SsoIdentity};
use settings::Secret;
use tokio::sync::Semaphore;

use crate::domain::OperatorRole;

/// Requests to the provider at once. Further callers are refused.
const REQUESTS_MAX: usize = 16;

pub(crate) struct StaffSignOn {
    party: RelyingParty,
    roles: GroupRoles<OperatorRole>,
    /// Of the button.
    pub(crate) label: String,
    /// Whether the staff may also log in with passwords.
    pub(crate) allows_passwords: bool,
}

/// The values of the settings.
pub(crate) struct StaffSignOnOptions<'a> {
    pub(crate) issuer: &'a str,
    pub(crate) client_id: &'a str,
    pub(crate) client_secret: &'a Secret,
    /// The page that the provider sends browsers back to.
    pub(crate) redirect_url: String,
    /// Separated by spaces.
    pub(crate) scopes: &'a str,
    pub(crate) groups_claim: String,
    pub(crate) roles: GroupRoles<OperatorRole>,
    pub(crate) label: String,
    pub(crate) allows_passwords: bool,
    /// Only in a local stack.
    pub(crate) allow_plain_http: bool,
}

impl StaffSignOn {
    /// Does not call the provider, which may be down.
    ///
    /// # Errors
    /// When a URL is not valid, or the HTTP client cannot be built.
    pub(crate) fn new(options: StaffSignOnOptions<'_>, clock: &Clock) -> anyhow::Result<Self> {
        let party = RelyingPartyOptions {
            issuer: options.issuer,
            client_id: options.client_id,
            client_secret: options.client_secret.expose(),
            redirect_url: options.redirect_url,
            scopes: options.scopes,
            groups_claim: options.groups_claim,
            allow_plain_http: options.allow_plain_http,
        };
        let http = ProviderHttp::of_operator(options.allow_plain_http)?;
        Ok(Self {
            party: RelyingParty::new(party, http, Arc::new(Semaphore::new(REQUESTS_MAX)), clock)?,
            roles: options.roles,
            label: options.label,
            allows_passwords: options.allows_passwords,
        })
    }

    /// `None` if no group of the person gives a role.
    pub(crate) fn role_of(&self, identity: &SsoIdentity) -> Option<OperatorRole> {
        self.roles.role_of(&identity.groups)
    }
}

impl Deref for StaffSignOn {
    type Target = RelyingParty;

    fn deref(&self) -> &RelyingParty {
        &self.party
    }
}

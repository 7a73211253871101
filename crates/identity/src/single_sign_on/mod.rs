//! Log-ins with identity providers (OpenID Connect, authorization code flow with PKCE): that of the operator for its staff, and those
//! of businesses for their users.

mod budget;
mod claims;
mod http;
pub mod identities;
mod provider;
pub mod sso_log_ins;
mod visit;

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use domain::Clock;
use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreClientAuthMethod, CoreErrorResponseType, CoreGenderClaim,
    CoreJsonWebKey, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm, CoreResponseType,
    CoreRevocableToken, CoreRevocationErrorResponse, CoreTokenIntrospectionResponse, CoreTokenType,
};
use openidconnect::{
    AuthType, AuthenticationFlow, AuthorizationCode, ClientId, ClientSecret, CsrfToken,
    EmptyExtraTokenFields, EndpointMaybeSet, EndpointNotSet, EndpointSet, IdTokenFields, IssuerUrl, Nonce,
    OAuth2TokenResponse as _, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, RequestTokenError, Scope,
    StandardErrorResponse, StandardTokenResponse, TokenResponse as _,
};
use tokio::sync::Semaphore;
use url::Url;

pub use budget::Budget;
use claims::{AllClaims, Verification};
use http::HttpError;
pub use http::ProviderHttp;
use provider::{Metadata, Provider};
pub use visit::{
    GroupRoles, InvalidGroupRole, SSO_AUTHENTICATION_LASTS, SSO_LASTS, SsoIdentity, SsoPurpose, SsoResponse,
    SsoResult, SsoSecrets, SsoSubject,
};

/// How far the clocks of a provider and this service may differ.
pub const CLOCK_SKEW: TimeDelta = TimeDelta::seconds(60);
/// It knows other values of `prompt` only, and its metadata does not say so.
const WITHOUT_PROMPT_LOGIN: &str = "https://accounts.google.com";
/// How long a log-out waits for the provider's metadata.
const LOG_OUT_PATIENCE: Duration = Duration::from_secs(2);

type TokenFields = IdTokenFields<
    AllClaims,
    EmptyExtraTokenFields,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm,
>;
type TokenResponse = StandardTokenResponse<TokenFields, CoreTokenType>;
type Client = openidconnect::Client<
    AllClaims,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    TokenResponse,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// Why the provider has proved nothing.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ProviderError {
    #[error("the identity provider is unavailable: {0}")]
    Unavailable(String),
    #[error("the identity provider's response is not valid: {0}")]
    Rejected(String),
}

/// This service as a client of one provider.
pub struct RelyingParty {
    provider: Provider,
    clock: Clock,
    client_id: ClientId,
    client_secret: ClientSecret,
    redirect_url: RedirectUrl,
    scopes: Vec<Scope>,
    groups_claim: String,
    /// Requests at once. Further callers are refused.
    slots: Arc<Semaphore>,
}

pub struct RelyingPartyOptions<'a> {
    pub issuer: &'a str,
    pub client_id: &'a str,
    pub client_secret: &'a str,
    /// The page that the provider sends browsers back to.
    pub redirect_url: String,
    /// Separated by spaces.
    pub scopes: &'a str,
    pub groups_claim: String,
    /// Only in a local stack.
    pub allow_plain_http: bool,
}

impl RelyingParty {
    /// Does not call the provider, which may be down.
    ///
    /// # Errors
    /// When a URL is not valid.
    pub fn new(
        options: RelyingPartyOptions<'_>,
        http: ProviderHttp,
        slots: Arc<Semaphore>,
        clock: &Clock,
    ) -> anyhow::Result<Self> {
        let issuer = IssuerUrl::new(options.issuer.to_owned())?;
        Ok(Self {
            provider: Provider::new(issuer, http, clock.clone(), options.allow_plain_http),
            clock: clock.clone(),
            client_id: ClientId::new(options.client_id.to_owned()),
            client_secret: ClientSecret::new(options.client_secret.to_owned()),
            redirect_url: RedirectUrl::new(options.redirect_url)?,
            scopes: options.scopes.split_whitespace().map(|scope| Scope::new(scope.to_owned())).collect(),
            groups_claim: options.groups_claim,
            slots,
        })
    }

    pub fn issuer(&self) -> &str {
        self.provider.issuer.as_str()
    }

    /// Where the browser authenticates.
    pub async fn authorization_url(
        &self,
        secrets: &SsoSecrets<'_>,
        purpose: SsoPurpose,
    ) -> Result<Url, ProviderError> {
        let metadata = self.metadata().await?;
        let client = self.client(&metadata);
        let (state, nonce) = (secrets.state(), secrets.nonce());
        let verifier = PkceCodeVerifier::new(secrets.verifier());
        let max_age = match purpose.must_authenticate() {
            false => SSO_AUTHENTICATION_LASTS.to_std().unwrap_or_default(),
            true => Duration::ZERO,
        };
        let request = client
            .authorize_url(
                AuthenticationFlow::<CoreResponseType>::AuthorizationCode,
                || CsrfToken::new(state),
                || Nonce::new(nonce),
            )
            .add_scopes(self.scopes.iter().cloned())
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier))
            .set_max_age(max_age);
        // The same as `max_age=0`; providers know one or the other.
        let request = match purpose.must_authenticate() && self.knows_prompt_login(&metadata) {
            true => request.add_prompt(CoreAuthPrompt::Login),
            false => request,
        };
        Ok(request.url().0)
    }

    fn knows_prompt_login(&self, metadata: &Metadata) -> bool {
        let values = metadata.additional_metadata().prompt_values_supported.as_ref();
        let lists_it = values.is_none_or(|values| values.iter().any(|value| value == "login"));
        lists_it && self.issuer() != WITHOUT_PROMPT_LOGIN
    }

    /// Whether a response names this provider (RFC 9207). A response of another provider must not reach this one's token
    /// endpoint, nor the other way round.
    pub async fn check_issuer(&self, given: Option<&str>) -> Result<(), ProviderError> {
        let metadata = self.metadata().await?;
        let is_promised = metadata.additional_metadata().authorization_response_iss_parameter_supported;
        match given {
            Some(given) if given == self.issuer() => Ok(()),
            None if !is_promised => Ok(()),
            _ => Err(ProviderError::Rejected("the response is of another issuer, or of none".to_owned())),
        }
    }

    /// Redeems the code, and verifies the ID token.
    pub async fn redeem(
        &self,
        code: String,
        secrets: &SsoSecrets<'_>,
        purpose: SsoPurpose,
    ) -> Result<SsoIdentity, ProviderError> {
        let _slot = self.slot()?;
        let metadata = self.metadata_unlimited().await?;
        let client = self.client(&metadata);
        let response = client
            .exchange_code(AuthorizationCode::new(code))
            .map_err(|error| ProviderError::Unavailable(error.to_string()))?
            .set_pkce_verifier(PkceCodeVerifier::new(secrets.verifier()))
            .request_async(&self.provider.http)
            .await
            .map_err(|error| token_error(error, self.provider.http.is_of_operator()))?;
        let token = response
            .id_token()
            .ok_or_else(|| ProviderError::Rejected("the response has no ID token".to_owned()))?;
        let verification = Verification {
            client_id: &self.client_id,
            issuer: &self.provider.issuer,
            nonce: Nonce::new(secrets.nonce()),
            now: self.clock.now(),
        };
        let verified = match verification.verify(token, &metadata) {
            Ok(verified) => verified,
            Err(error) if claims::has_unknown_key(&error) => {
                let metadata = self.provider.metadata_with_new_keys().await?;
                verification.verify(token, &metadata).map_err(claims::rejected)?
            }
            Err(error) => return Err(claims::rejected(error)),
        };
        let mut found = claims::of_token(verified, &self.groups_claim, purpose.must_authenticate());
        if found.is_complete() {
            return Ok(found.into_identity());
        }
        if metadata.userinfo_endpoint().is_some() {
            let asked = client
                .user_info(response.access_token().clone(), Some(verified.subject().clone()))
                .map_err(|error| ProviderError::Unavailable(error.to_string()))?;
            let answer = asked.request_async(&self.provider.http).await.map_err(claims::user_info_error)?;
            found.complete_with(&answer, &self.groups_claim);
        }
        Ok(found.into_identity())
    }

    /// Where the browser ends its session at the provider. `None` if the provider has no such page, or does not answer soon:
    /// nothing delays a log-out for long.
    pub async fn log_out_url(&self, return_to: &str) -> Option<Url> {
        let metadata = tokio::time::timeout(LOG_OUT_PATIENCE, self.metadata()).await.ok()?.ok()?;
        let mut url = metadata.additional_metadata().end_session_endpoint.clone()?;
        url.query_pairs_mut()
            .append_pair("client_id", self.client_id.as_str())
            .append_pair("post_logout_redirect_uri", return_to);
        Some(url)
    }

    /// Reads the metadata, and says what is wrong. At most once in ten seconds. Returns the claims that are missing, without which
    /// the provider can be used.
    pub async fn check(&self) -> Result<Vec<&'static str>, ProviderError> {
        let _slot = self.slot()?;
        let metadata = self.provider.check().await?;
        if claims::can_sign(&metadata) {
            return Ok(claims::missing(&metadata));
        }
        let reason = "the provider signs ID tokens with none of RS256, PS256, ES256 and EdDSA";
        Err(ProviderError::Rejected(reason.to_owned()))
    }

    async fn metadata(&self) -> Result<Arc<Metadata>, ProviderError> {
        let _slot = self.slot()?;
        self.metadata_unlimited().await
    }

    async fn metadata_unlimited(&self) -> Result<Arc<Metadata>, ProviderError> {
        self.provider.metadata().await
    }

    fn slot(&self) -> Result<tokio::sync::SemaphorePermit<'_>, ProviderError> {
        self.slots
            .try_acquire()
            .map_err(|_| ProviderError::Unavailable("too many requests at once".to_owned()))
    }

    fn client(&self, metadata: &Metadata) -> Client {
        let client = Client::from_provider_metadata(
            metadata.clone(),
            self.client_id.clone(),
            Some(self.client_secret.clone()),
        );
        client.set_redirect_uri(self.redirect_url.clone()).set_auth_type(auth_type(metadata))
    }
}

/// The secret is sent in the header, unless the provider accepts it only in the body.
fn auth_type(metadata: &Metadata) -> AuthType {
    use CoreClientAuthMethod::{ClientSecretBasic, ClientSecretPost};
    let methods = metadata.token_endpoint_auth_methods_supported();
    match methods {
        Some(methods) if !methods.contains(&ClientSecretBasic) && methods.contains(&ClientSecretPost) => {
            AuthType::RequestBody
        }
        _ => AuthType::BasicAuth,
    }
}

type TokenError = RequestTokenError<HttpError, StandardErrorResponse<CoreErrorResponseType>>;

/// Errors contain no token: parsers name positions and types, and the provider's own words are left out except for its code.
fn token_error(error: TokenError, is_of_operator: bool) -> ProviderError {
    match error {
        RequestTokenError::Request(error) => ProviderError::Unavailable(error.to_string()),
        RequestTokenError::ServerResponse(response) => {
            let code = response.error();
            // The settings of a business are not for the operator to fix.
            if is_of_operator && *code == CoreErrorResponseType::InvalidClient {
                tracing::error!("check WAYBILL_SSO__CLIENT_ID and WAYBILL_SSO__CLIENT_SECRET");
            }
            ProviderError::Rejected(format!("the token endpoint answered {}", code.as_ref()))
        }
        RequestTokenError::Parse(error, _) => {
            ProviderError::Rejected(format!("the token response cannot be read: {}", error.path()))
        }
        RequestTokenError::Other(error) => ProviderError::Rejected(error),
    }
}

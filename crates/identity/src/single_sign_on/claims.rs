//! Verifies ID tokens, and reads the claims about a person.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use openidconnect::core::{CoreGenderClaim, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm};
use openidconnect::{
    AdditionalClaims, ClaimsVerificationError, ClientId, IdToken, IdTokenClaims, IdTokenVerifier, IssuerUrl,
    Nonce, SignatureVerificationError, StandardClaims, UserInfoClaims, UserInfoError,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::http::HttpError;
use super::provider::Metadata;
use super::visit::{SSO_LASTS, SsoIdentity};
use super::{CLOCK_SKEW, ProviderError};
use domain::Email;

/// Signatures that only the provider can make. Never `none`, and never a secret that both sides know.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 4] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EdDsa,
];
/// Without the first, a confirmation is as fresh as its token. Without the second, no user is found by their address.
const OPTIONAL_CLAIMS: [&str; 2] = ["auth_time", "email_verified"];
/// In characters.
const NAME_MAX: usize = 120;
/// OpenID Connect Core §2.
const SUBJECT_MAX: usize = 255;

/// Claims that OpenID Connect does not define, such as groups.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct AllClaims {
    #[serde(flatten)]
    claims: HashMap<String, Value>,
}

impl AdditionalClaims for AllClaims {}

type Token = IdToken<AllClaims, CoreGenderClaim, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm>;
type TokenClaims = IdTokenClaims<AllClaims, CoreGenderClaim>;

/// What a token must agree with.
pub(super) struct Verification<'a> {
    pub(super) client_id: &'a ClientId,
    pub(super) issuer: &'a IssuerUrl,
    pub(super) nonce: Nonce,
    pub(super) now: DateTime<Utc>,
}

impl Verification<'_> {
    /// Checks algorithm, signature, issuer, audience, nonce and times.
    pub(super) fn verify<'t>(
        &self,
        token: &'t Token,
        metadata: &Metadata,
    ) -> Result<&'t TokenClaims, ClaimsVerificationError> {
        let now = self.now;
        let is_issued_now = move |at: DateTime<Utc>| {
            let is_plausible = at <= now + CLOCK_SKEW && at >= now - SSO_LASTS - CLOCK_SKEW;
            is_plausible.then_some(()).ok_or_else(|| "the token was not issued now".to_owned())
        };
        let verifier = IdTokenVerifier::new_public_client(
            self.client_id.clone(),
            self.issuer.clone(),
            metadata.jwks().clone(),
        )
        .set_allowed_algs(ALGORITHMS)
        .set_time_fn(move || now - CLOCK_SKEW)
        .set_issue_time_verifier_fn(is_issued_now);
        let claims = token.claims(&verifier, &self.nonce)?;
        let subject = claims.subject().as_str();
        if !(1..=SUBJECT_MAX).contains(&subject.len()) {
            return Err(ClaimsVerificationError::InvalidSubject("its length is not valid".to_owned()));
        }
        // The token was issued to another client.
        if claims.authorized_party().is_some_and(|party| party != self.client_id) {
            return Err(ClaimsVerificationError::InvalidAudience("azp names another client".to_owned()));
        }
        // PostgreSQL stores no NUL.
        if subject.contains(char::is_control) {
            return Err(ClaimsVerificationError::InvalidSubject("it has control characters".to_owned()));
        }
        Ok(claims)
    }
}

/// Whether the provider may have changed its keys.
pub(super) fn has_unknown_key(error: &ClaimsVerificationError) -> bool {
    matches!(error, ClaimsVerificationError::SignatureVerification(SignatureVerificationError::NoMatchingKey))
}

/// Whether the provider can sign so that [`Verification`] accepts it.
pub(super) fn can_sign(metadata: &Metadata) -> bool {
    let offered = metadata.id_token_signing_alg_values_supported();
    offered.iter().any(|algorithm| ALGORITHMS.contains(algorithm))
}

/// The optional claims that the metadata does not list. Empty if the metadata lists no claims at all.
pub(super) fn missing(metadata: &Metadata) -> Vec<&'static str> {
    let Some(listed) = metadata.claims_supported() else { return Vec::new() };
    OPTIONAL_CLAIMS.into_iter().filter(|name| listed.iter().all(|listed| listed.as_str() != *name)).collect()
}

pub(super) fn rejected(error: ClaimsVerificationError) -> ProviderError {
    ProviderError::Rejected(match error {
        ClaimsVerificationError::SignatureVerification(error) => format!("the signature: {error}"),
        error => error.to_string(),
    })
}

pub(super) fn user_info_error(error: UserInfoError<HttpError>) -> ProviderError {
    match error {
        UserInfoError::Request(error) => ProviderError::Unavailable(error.to_string()),
        UserInfoError::ClaimsVerification(error) => rejected(error),
        // Without the body, which has personal data.
        UserInfoError::Response(status, _, _) => {
            ProviderError::Rejected(format!("the user info endpoint answered {status}"))
        }
        _ => ProviderError::Rejected("the user info cannot be read".to_owned()),
    }
}

/// What is known of a person so far.
pub(super) struct Found {
    identity: SsoIdentity,
    has_groups: bool,
    /// The token says that its address is not the person's.
    denies_email: bool,
}

/// `must_authenticate` says that the provider was asked to authenticate the person, whatever session it has: it issues the token
/// afterwards. Its `auth_time`, which many providers leave out, counts first, because it may ignore the request.
pub(super) fn of_token(claims: &TokenClaims, groups_claim: &str, must_authenticate: bool) -> Found {
    let groups = groups(claims.additional_claims(), groups_claim);
    Found {
        has_groups: groups.is_some(),
        denies_email: claims.email_verified() == Some(false),
        identity: SsoIdentity {
            issuer: claims.issuer().as_str().to_owned(),
            subject: claims.subject().as_str().to_owned(),
            email: claims.email().and_then(|email| usable(email.as_str(), claims.email_verified())),
            email_verified: claims.email_verified() == Some(true),
            hosted_domain: claims
                .additional_claims()
                .claims
                .get("hd")
                .and_then(Value::as_str)
                .map(str::to_owned),
            name: claims.name().and_then(|name| name.get(None)).and_then(|name| shown(name.as_str())),
            groups: groups.unwrap_or_default(),
            authenticated_at: claims.auth_time().or(must_authenticate.then(|| claims.issue_time())),
        },
    }
}

impl Found {
    /// Whether the user info could add nothing that is needed.
    pub(super) fn is_complete(&self) -> bool {
        self.has_groups && self.identity.email.is_some()
    }

    /// Providers may send claims of scopes at the user info endpoint only (OpenID Connect Core §5.4).
    pub(super) fn complete_with(
        &mut self,
        answer: &UserInfoClaims<AllClaims, CoreGenderClaim>,
        groups_claim: &str,
    ) {
        let standard: &StandardClaims<CoreGenderClaim> = answer.standard_claims();
        let email = standard.email().and_then(|email| usable(email.as_str(), standard.email_verified()));
        let name = standard.name().and_then(|name| name.get(None)).and_then(|name| shown(name.as_str()));
        if !self.has_groups {
            self.identity.groups = groups(answer.additional_claims(), groups_claim).unwrap_or_default();
        }
        if self.identity.email.is_none() && !self.denies_email {
            self.identity.email_verified = standard.email_verified() == Some(true);
            self.identity.email = email;
        }
        self.identity.name = self.identity.name.take().or(name);
    }

    pub(super) fn into_identity(self) -> SsoIdentity {
        self.identity
    }
}

/// An address that the provider says is not the person's is not used. Many providers say nothing.
fn usable(email: &str, is_verified: Option<bool>) -> Option<Email> {
    Email::parse(email).filter(|_| is_verified != Some(false))
}

/// Nothing of a name with control characters, as of an e-mail address with them.
fn shown(name: &str) -> Option<String> {
    let visible: String = name.chars().take(NAME_MAX).collect();
    let visible = visible.trim();
    (!visible.is_empty() && !name.contains(char::is_control)).then(|| visible.to_owned())
}

/// A list, or a single name. `None` without the claim.
fn groups(claims: &AllClaims, name: &str) -> Option<Vec<String>> {
    let groups = match claims.claims.get(name)? {
        Value::Array(groups) => groups.as_slice(),
        one => std::slice::from_ref(one),
    };
    let groups = groups.iter().filter_map(Value::as_str).filter(|group| !group.trim().is_empty());
    Some(groups.map(str::to_owned).collect())
}

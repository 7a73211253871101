//! TLS configurations of rustls: for clients, one per degree of trust, and for a listener. Independent of the protocols
//! that use them.

mod lenient;
mod server;

use std::sync::Arc;

use lenient::AnyName;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};

pub use server::certified_as_in;

/// Why no configuration could be built.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("a trusted certificate is unusable: {0}")]
    Unusable(#[from] rustls::Error),
    #[error("this system has no trusted certificates; install its CA certificates: {0}")]
    NoneOnSystem(String),
    #[error("the certificate is unusable: {0}")]
    Certificate(String),
}

/// Trusts servers whose certificate matches their name and was issued by an authority of the system.
///
/// # Errors
/// When the system has no authorities.
pub fn certified_by_system() -> Result<ClientConfig, TlsError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    // Skip the authorities that cannot be parsed; systems contain some.
    let (added, _ignored) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        let reasons: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
        return Err(TlsError::NoneOnSystem(reasons.join("; ")));
    }
    Ok(builder()?.with_root_certificates(roots).with_no_client_auth())
}

/// Trusts servers whose certificate matches their name and was issued by one of these authorities.
///
/// # Errors
/// When a certificate is not a valid authority.
pub fn certified_by(authorities: &[CertificateDer<'static>]) -> Result<ClientConfig, TlsError> {
    Ok(builder()?.with_root_certificates(store(authorities)?).with_no_client_auth())
}

/// Trusts servers with a certificate of one of these authorities, for any name.
///
/// # Errors
/// As [`certified_by`].
pub fn certified_by_for_any_name(authorities: &[CertificateDer<'static>]) -> Result<ClientConfig, TlsError> {
    any_name(Some(store(authorities)?))
}

/// Accepts every certificate: protects against eavesdropping, but not against an impostor.
///
/// # Errors
/// Never, as long as the crypto provider supports TLS 1.2 or 1.3.
pub fn anyone() -> Result<ClientConfig, TlsError> {
    any_name(None)
}

fn store(authorities: &[CertificateDer<'static>]) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for authority in authorities {
        roots.add(authority.clone())?;
    }
    Ok(roots)
}

fn builder() -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, TlsError> {
    Ok(ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions()?)
}

fn any_name(authorities: Option<RootCertStore>) -> Result<ClientConfig, TlsError> {
    let verifier = Arc::new(AnyName { authorities, provider: provider() });
    Ok(builder()?.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}

/// Explicit, so that the process-wide default provider does not matter.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

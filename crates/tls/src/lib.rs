//! Whom a TLS client of ours trusts, as configurations of rustls: one for each degree of trust that servers on the
//! network are given. Knows nothing of what is spoken over the lines.

mod lenient;

use std::sync::Arc;

use lenient::AnyName;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};

/// Why there is nobody to trust.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("a certificate that is to be trusted is of no use: {0}")]
    Unusable(#[from] rustls::Error),
    #[error("this system has no certificates that are to be trusted: {0}")]
    NoneOnSystem(String),
}

/// Trusts servers with these names whom an authority of the system has certified.
///
/// # Errors
/// When the system has none.
pub fn certified_by_system() -> Result<ClientConfig, TlsError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    // Systems come with some that are too old or too strange to be read; the others count.
    let (added, _ignored) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        let reasons: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
        return Err(TlsError::NoneOnSystem(reasons.join("; ")));
    }
    Ok(builder()?.with_root_certificates(roots).with_no_client_auth())
}

/// Trusts servers with their right names whom one of these authorities has certified, and no others.
///
/// # Errors
/// When one of the certificates cannot be an authority's.
pub fn certified_by(authorities: &[CertificateDer<'static>]) -> Result<ClientConfig, TlsError> {
    Ok(builder()?.with_root_certificates(store(authorities)?).with_no_client_auth())
}

/// Trusts whomever one of these authorities has certified, under whatever name.
///
/// # Errors
/// As [`certified_by`].
pub fn certified_by_whatever_their_name(
    authorities: &[CertificateDer<'static>],
) -> Result<ClientConfig, TlsError> {
    whatever_their_name(Some(store(authorities)?))
}

/// Trusts anyone: eavesdroppers hear nothing, but whoever answers may be one.
///
/// # Errors
/// Never, as long as the provider of cryptography speaks TLS 1.2 or 1.3.
pub fn anyone() -> Result<ClientConfig, TlsError> {
    whatever_their_name(None)
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

fn whatever_their_name(authorities: Option<RootCertStore>) -> Result<ClientConfig, TlsError> {
    let verifier = Arc::new(AnyName { authorities, provider: provider() });
    Ok(builder()?.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}

/// Named here, so that nothing depends on who installs which provider for the process first.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

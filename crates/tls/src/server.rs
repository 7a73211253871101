//! The certificate of a listener. Each handshake reads its files, so a renewal needs no restart.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use crate::{TlsError, provider};

/// Serves the certificate and key of this folder, `tls.crt` and `tls.key`. When they change, the next handshake uses the
/// new ones. While the new ones are unusable, the former ones stay. Reading is much cheaper than a handshake.
///
/// # Errors
/// When they are unusable now.
pub fn certified_as_in(folder: &Path) -> Result<ServerConfig, TlsError> {
    let certificate = Arc::new(Renewed::read(folder)?);
    let versions = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions()?;
    Ok(versions.with_no_client_auth().with_cert_resolver(certificate))
}

struct Renewed {
    folder: PathBuf,
    served: Mutex<Served>,
}

struct Served {
    certified: Arc<CertifiedKey>,
    /// What the last handshake found.
    found: Result<Files, String>,
}

#[derive(PartialEq)]
struct Files {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Renewed {
    fn read(folder: &Path) -> Result<Self, TlsError> {
        let files = Files::read(folder).map_err(TlsError::Certificate)?;
        let certified = files.certified().map_err(TlsError::Certificate)?;
        let served = Served { certified, found: Ok(files) };
        Ok(Self { folder: folder.to_owned(), served: Mutex::new(served) })
    }
}

impl Served {
    fn look(&mut self, folder: &Path) {
        let found = Files::read(folder);
        if found == self.found {
            return;
        }
        match found.as_ref().map_err(String::clone).and_then(Files::certified) {
            Ok(certified) => {
                self.certified = certified;
                tracing::info!("renewed certificate served");
            }
            Err(error) => tracing::warn!(error, "the new certificate is unusable; the former one is served"),
        }
        self.found = found;
    }
}

impl Files {
    fn read(folder: &Path) -> Result<Self, String> {
        let read = |name: &str| {
            let path = folder.join(name);
            fs::read(&path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
        };
        Ok(Self { certificate: read("tls.crt")?, key: read("tls.key")? })
    }

    fn certified(&self) -> Result<Arc<CertifiedKey>, String> {
        let chain = CertificateDer::pem_slice_iter(&self.certificate).collect::<Result<Vec<_>, _>>();
        let chain = chain.map_err(|error| format!("tls.crt is not PEM: {error}"))?;
        let key = PrivateKeyDer::from_pem_slice(&self.key);
        let key = key.map_err(|error| format!("tls.key is not a key in PEM: {error}"))?;
        let certified = CertifiedKey::from_der(chain, key, &provider());
        certified.map(Arc::new).map_err(|error| format!("tls.crt and tls.key do not fit: {error}"))
    }
}

impl ResolvesServerCert for Renewed {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        served.look(&self.folder);
        Some(Arc::clone(&served.certified))
    }
}

/// Without the key.
impl fmt::Debug for Renewed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Renewed").field("folder", &self.folder).finish_non_exhaustive()
    }
}

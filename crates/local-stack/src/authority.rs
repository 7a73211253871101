//! An authority of a test's own, which certifies servers for TLS.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

/// Certifies servers. Each is another one, which those who trust one of them do not trust.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// A server's certificate and its key, in PEM.
pub struct Certified {
    pub certificate: String,
    pub key: String,
}

impl Authority {
    /// # Errors
    /// When no key can be made.
    pub fn new(name: &str) -> anyhow::Result<Self> {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name.push(DnType::CommonName, name);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate()?;
        let pem = parameters.self_signed(&key)?.pem();
        Ok(Self { issuer: Issuer::new(parameters, key), pem })
    }

    /// Its own certificate, for those who are to trust it.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Certifies a server of these names, which may be addresses.
    ///
    /// # Errors
    /// When a name is none.
    pub fn certify(&self, names: &[&str]) -> anyhow::Result<Certified> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let key = KeyPair::generate()?;
        let certificate = CertificateParams::new(names)?.signed_by(&key, &self.issuer)?;
        Ok(Certified { certificate: certificate.pem(), key: key.serialize_pem() })
    }
}

//! A certificate authority for tests with TLS.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

/// A new certificate authority. It is independent of all others.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// A server's certificate and key, in PEM.
pub struct Certified {
    pub certificate: String,
    pub key: String,
}

impl Authority {
    /// # Errors
    /// When no key can be generated.
    pub fn new(name: &str) -> anyhow::Result<Self> {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name.push(DnType::CommonName, name);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate()?;
        let pem = parameters.self_signed(&key)?.pem();
        Ok(Self { issuer: Issuer::new(parameters, key), pem })
    }

    /// The authority's own certificate, for clients that trust it.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Issues a certificate for a server with these names or addresses.
    ///
    /// # Errors
    /// When a name is invalid.
    pub fn certify(&self, names: &[&str]) -> anyhow::Result<Certified> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let key = KeyPair::generate()?;
        let certificate = CertificateParams::new(names)?.signed_by(&key, &self.issuer)?;
        Ok(Certified { certificate: certificate.pem(), key: key.serialize_pem() })
    }
}

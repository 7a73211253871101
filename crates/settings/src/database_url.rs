//! The TLS options of a database URL, under libpq's names: `sslmode` and `sslrootcert`.

use std::path::Path;

use percent_encoding::percent_decode_str;

use crate::{Certificates, Secret};

/// A database URL. The driver does not understand all options, so some are parsed here.
#[derive(Clone, Debug)]
pub struct DatabaseUrl {
    /// The URL without the options that `encryption` covers.
    pub rest: Secret,
    pub encryption: Encryption,
}

/// The TLS mode of a PostgreSQL connection: libpq's `sslmode`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Encryption {
    /// `disable`
    None,
    /// `prefer`: encrypts if the server offers TLS, without verifying the server.
    IfOffered,
    /// `require` without `sslrootcert`: encrypts, but accepts any server.
    WithAnyone,
    /// `verify-ca`, and `require` with `sslrootcert`, which libpq treats alike: any server with a certificate of these
    /// authorities, for any name.
    WithCertified(Certificates),
    /// `verify-full`: the URL's host, with a certificate of these authorities. `None` means the system's
    /// authorities.
    WithHost(Option<Certificates>),
}

const MODES: &str = "sslmode must be disable, prefer, require, verify-ca or verify-full";
/// libpq's name for the system's authorities.
const SYSTEM: &str = "system";

impl DatabaseUrl {
    /// # Errors
    /// Describes the problem. Shows nothing of the URL except the path of the certificates.
    pub fn parse(url: &Secret) -> Result<Self, String> {
        let url = url.expose();
        if !(url.starts_with("postgres://") || url.starts_with("postgresql://")) {
            return Err("must be a postgres:// URL".into());
        }
        let (place, options) = split(url);
        let (mut mode, mut root, mut rest) = (None, None, Vec::new());
        // The last of repeated options counts.
        for option in options.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("sslmode", value)) => mode = Some(decoded(value)?),
                Some(("sslrootcert", value)) => root = Some(decoded(value)?).filter(|path| !path.is_empty()),
                Some(_) | None => rest.push(option),
            }
        }
        let encryption = encryption(mode.as_deref(), root.as_deref())?;
        let rest = if rest.is_empty() { place.into() } else { format!("{place}?{}", rest.join("&")) };
        Ok(Self { rest: Secret::new(rest), encryption })
    }
}

/// Finds the question mark before the options. The password may also contain one.
fn split(url: &str) -> (&str, &str) {
    let host = url.find('@').unwrap_or_default();
    match url[host..].find('?') {
        Some(mark) => (&url[..host + mark], &url[host + mark + 1..]),
        None => (url, ""),
    }
}

fn decoded(value: &str) -> Result<String, String> {
    let text = percent_decode_str(value).decode_utf8();
    Ok(text.map_err(|_| "sslmode and sslrootcert must be UTF-8")?.into_owned())
}

fn encryption(mode: Option<&str>, root: Option<&str>) -> Result<Encryption, String> {
    let certificates =
        |path| Certificates::read(Path::new(path)).map_err(|error| format!("sslrootcert names {error}"));
    match (mode.unwrap_or("prefer"), root) {
        ("disable", None) => Ok(Encryption::None),
        ("prefer", None) => Ok(Encryption::IfOffered),
        ("require", None) => Ok(Encryption::WithAnyone),
        ("verify-full", None | Some(SYSTEM)) => Ok(Encryption::WithHost(None)),
        ("require" | "verify-ca", Some(SYSTEM)) => Err(
            "sslrootcert=system requires sslmode=verify-full: anybody can get a certificate for some name"
                .into(),
        ),
        ("require" | "verify-ca", Some(path)) => certificates(path).map(Encryption::WithCertified),
        ("verify-full", Some(path)) => certificates(path).map(|root| Encryption::WithHost(Some(root))),
        ("verify-ca", None) => {
            Err("sslmode=verify-ca requires sslrootcert, a file with the authority's certificate".into())
        }
        ("disable" | "prefer", Some(_)) => {
            Err("sslrootcert requires sslmode=verify-full: otherwise no certificate is verified".into())
        }
        (_, _) => Err(MODES.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "postgres://u:p@h:5432/d";

    fn parse(url: &str) -> Result<DatabaseUrl, String> {
        DatabaseUrl::parse(&Secret::new(url))
    }

    #[test]
    fn modes_match_libpq() {
        for (mode, encryption) in [
            ("", Encryption::IfOffered),
            ("?sslmode=disable", Encryption::None),
            ("?sslmode=prefer", Encryption::IfOffered),
            ("?sslmode=require", Encryption::WithAnyone),
            ("?sslmode=require&sslrootcert=", Encryption::WithAnyone),
            ("?sslmode=verify-full", Encryption::WithHost(None)),
            ("?sslmode=verify%2Dfull&sslrootcert=system", Encryption::WithHost(None)),
            ("?sslmode=disable&sslmode=require", Encryption::WithAnyone),
        ] {
            let url = parse(&format!("{BASE}{mode}")).unwrap();
            assert_eq!((url.rest.expose(), url.encryption), (BASE, encryption), "{mode}");
        }
    }

    #[test]
    fn the_drivers_own_options_are_kept() {
        for (url, rest) in [
            ("postgresql://h/d?a=1&sslmode=require&b=2", "postgresql://h/d?a=1&b=2"),
            ("postgres://u:p?sslmode=x@h/d?sslmode=disable", "postgres://u:p?sslmode=x@h/d"),
            ("postgres://h/d?", "postgres://h/d"),
        ] {
            assert_eq!(parse(url).unwrap().rest.expose(), rest, "{url}");
        }
    }

    #[test]
    fn certificates_are_read() {
        let authority = rcgen::generate_simple_self_signed(["ca".to_owned()]).unwrap().cert;
        let path = std::env::temp_dir().join(format!("waybill settings {}.crt", std::process::id()));
        std::fs::write(&path, authority.pem()).unwrap();
        let root = Certificates::parse(authority.pem().trim_end().into()).unwrap();
        assert_eq!(root.as_slice(), [authority.der().clone()]);
        let name = path.to_str().unwrap().replace(' ', "%20");
        for (mode, encryption) in [
            ("require", Encryption::WithCertified(root.clone())),
            ("verify-ca", Encryption::WithCertified(root.clone())),
            ("verify-full", Encryption::WithHost(Some(root.clone()))),
        ] {
            let url = parse(&format!("{BASE}?sslrootcert={name}&sslmode={mode}")).unwrap();
            assert_eq!(url.encryption, encryption, "{mode}");
        }
        std::fs::write(&path, "nothing of the kind").unwrap();
        let error = parse(&format!("{BASE}?sslmode=verify-full&sslrootcert={name}")).unwrap_err();
        assert!(
            error.ends_with(".crt, which contains no certificate (-----BEGIN CERTIFICATE-----)"),
            "{error}"
        );
        std::fs::remove_file(&path).unwrap();
        let error = parse(&format!("{BASE}?sslmode=verify-full&sslrootcert={name}")).unwrap_err();
        assert!(error.starts_with("sslrootcert names /") && error.contains("cannot be read"), "{error}");
    }

    #[test]
    fn misleading_options_are_refused() {
        for (url, error) in [
            ("mysql://h/d", "must be a postgres:// URL"),
            ("postgres://h/d?sslmode=allow", MODES),
            ("postgres://h/d?sslmode=", MODES),
            ("postgres://h/d?sslmode=verify_full&sslrootcert=/nowhere", MODES),
            ("postgres://h/d?sslmode=verify-ca", "sslmode=verify-ca requires sslrootcert"),
            ("postgres://h/d?sslmode=verify-ca&sslrootcert=system", "sslrootcert=system requires"),
            ("postgres://h/d?sslrootcert=/ca.crt", "sslrootcert requires sslmode=verify-full"),
            ("postgres://h/d?sslmode=%ff", "sslmode and sslrootcert must be UTF-8"),
        ] {
            let reported = parse(url).unwrap_err();
            assert!(reported.starts_with(error), "{url}: {reported}");
        }
    }
}

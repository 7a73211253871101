//! The signing secret: `whsec_` and base64.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::MalformedSecret;

const PREFIX: &str = "whsec_";

/// A well-formed signing secret. Only [`Secret::expose`] returns its text.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Creates a secret from 32 bytes of a cryptographically secure source.
    pub fn generate(bytes: [u8; 32]) -> Self {
        Self(format!("{PREFIX}{}", STANDARD.encode(bytes)))
    }

    /// Parses a secret, for instance from the receiver's configuration, so that a truncated secret is detected at the
    /// start.
    ///
    /// # Errors
    /// When it is not `whsec_` and base64 of 24 to 64 bytes, the lengths that Standard Webhooks allows.
    pub fn parse(text: &str) -> Result<Self, MalformedSecret> {
        decode(text)?;
        Ok(Self(text.to_owned()))
    }

    /// The secret itself, to sign, to verify, or to show it once.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// The bytes after `whsec_`.
pub(crate) fn decode(secret: &str) -> Result<Vec<u8>, MalformedSecret> {
    let encoded = secret.strip_prefix(PREFIX).ok_or(MalformedSecret)?;
    let key = STANDARD.decode(encoded).map_err(|_| MalformedSecret)?;
    if (24..=64).contains(&key.len()) { Ok(key) } else { Err(MalformedSecret) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_secret_round_trips_and_debug_hides_it() {
        let secret = Secret::generate(std::array::from_fn(|at| at as u8));
        assert_eq!(secret.expose(), "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
        assert_eq!(Secret::parse(secret.expose()), Ok(secret.clone()));
        assert_eq!(format!("{secret:?}"), "Secret(..)");
    }

    #[test]
    fn other_forms_are_refused() {
        let short = format!("whsec_{}", STANDARD.encode([0; 23]));
        let long = format!("whsec_{}", STANDARD.encode([0; 65]));
        let bare = STANDARD.encode([0; 32]);
        for text in ["", "whsec_", "whsec_not base64!", &short, &long, &bare] {
            assert_eq!(Secret::parse(text), Err(MalformedSecret), "{text}");
        }
        assert!(Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").is_ok());
    }
}

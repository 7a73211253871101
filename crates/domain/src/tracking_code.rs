//! Tracking codes. The code alone gives access to a parcel's position, so it must not be guessable: 13 characters of
//! Crockford's base32 (65 random bits) and a check character. Test orders have the prefix `TEST-`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{Entropy, Mode};

const RANDOM_LENGTH: usize = 13;
const TEST_PREFIX: &str = "TEST-";
const CROCKFORD: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Crockford's check symbol is the value modulo 37; it needs five symbols beyond the 32.
const CHECK_SYMBOLS: &[u8; 37] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ*~$=U";
/// `*~$=` are awkward in URLs, so a code is generated again until its check symbol is a letter or digit.
const PLAIN_CHECK_SYMBOLS: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TrackingCode(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a tracking code")]
pub struct TrackingCodeError;

impl TrackingCode {
    pub fn generate(mode: Mode, entropy: &Entropy) -> Self {
        loop {
            let symbols: [u8; RANDOM_LENGTH] = std::array::from_fn(|_| CROCKFORD[entropy.below(32) as usize]);
            let check = check_value(&symbols);
            if check < PLAIN_CHECK_SYMBOLS {
                let prefix = if mode == Mode::Test { TEST_PREFIX } else { "" };
                let body = String::from_utf8_lossy(&symbols);
                return Self(format!("{prefix}{body}{}", char::from(CHECK_SYMBOLS[check])));
            }
        }
    }

    /// Parses a code that a person typed: in any case, with surrounding spaces.
    ///
    /// # Errors
    /// When the text is not a tracking code.
    pub fn from_user_input(text: &str) -> Result<Self, TrackingCodeError> {
        text.trim().to_ascii_uppercase().parse()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TrackingCode {
    type Err = TrackingCodeError;

    fn from_str(text: &str) -> Result<Self, TrackingCodeError> {
        let symbols = text.strip_prefix(TEST_PREFIX).unwrap_or(text).as_bytes();
        let well_formed =
            symbols.len() == RANDOM_LENGTH + 1 && symbols.iter().all(|byte| CROCKFORD.contains(byte));
        if !well_formed || CHECK_SYMBOLS[check_value(&symbols[..RANDOM_LENGTH])] != symbols[RANDOM_LENGTH] {
            return Err(TrackingCodeError);
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for TrackingCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for TrackingCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for TrackingCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

fn check_value(symbols: &[u8]) -> usize {
    symbols.iter().fold(0, |value, symbol| {
        let digit = CROCKFORD.iter().position(|known| known == symbol).unwrap_or_default();
        (value * 32 + digit) % 37
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_round_trip_and_typos_are_detected() {
        let entropy = Entropy::seeded(3);
        for mode in [Mode::Test, Mode::Live] {
            let code = TrackingCode::generate(mode, &entropy);
            assert_eq!(code.as_str().starts_with("TEST-"), mode == Mode::Test);
            assert_eq!(code.as_str().parse(), Ok(code.clone()));
            let mut mistyped = code.as_str().to_owned();
            let first = mistyped.rfind(|_: char| true).unwrap() - 1;
            mistyped.replace_range(first..=first, if &mistyped[first..=first] == "0" { "1" } else { "0" });
            assert_eq!(mistyped.parse::<TrackingCode>(), Err(TrackingCodeError));
        }
        assert!("".parse::<TrackingCode>().is_err());
        assert!("TEST-".parse::<TrackingCode>().is_err());
    }
}

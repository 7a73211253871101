//! The format of an API key: `sk_test_<segment>_` or `sk_live_<segment>_`, 30 random base62 characters, and the CRC32
//! of all of these in 6 characters. The checksum detects a mistyped or truncated key without a database query.

use std::fmt;

use crate::{Entropy, Mode};

const RANDOM_LENGTH: usize = 30;
const CHECKSUM_LENGTH: usize = 6;
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The operator's part of the prefix (`waybill` by default).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySegment(String);

impl KeySegment {
    /// Accepts 1 to 20 lower-case ASCII letters and digits.
    pub fn new(segment: &str) -> Option<Self> {
        let fits = (1..=20).contains(&segment.len())
            && segment.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        fits.then(|| Self(segment.to_owned()))
    }

    fn prefix(&self, mode: Mode) -> String {
        format!("sk_{mode}_{}_", self.0)
    }
}

/// A complete API key. It is a secret: only [`ApiKey::expose`] returns its text.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey {
    mode: Mode,
    text: String,
    prefix_length: usize,
}

/// Why a text is not an API key of this installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApiKeyError {
    #[error("the key does not have the form of an API key of this service")]
    Malformed,
    #[error("the key is mistyped or incomplete: its checksum does not match")]
    WrongChecksum,
}

impl ApiKey {
    pub fn generate(mode: Mode, segment: &KeySegment, entropy: &Entropy) -> Self {
        let prefix = segment.prefix(mode);
        let prefix_length = prefix.len();
        let mut text = prefix;
        text.extend((0..RANDOM_LENGTH).map(|_| base62_digit(entropy.below(62))));
        let checksum = checksum(&text);
        text.push_str(&checksum);
        Self { mode, text, prefix_length }
    }

    /// Parses a key that a caller sent.
    ///
    /// # Errors
    /// When the format or the checksum is wrong. Neither error reveals whether a key exists.
    pub fn parse(text: &str, segment: &KeySegment) -> Result<Self, ApiKeyError> {
        let (mode, prefix) = [Mode::Test, Mode::Live]
            .map(|mode| (mode, segment.prefix(mode)))
            .into_iter()
            .find(|(_, prefix)| text.starts_with(prefix))
            .ok_or(ApiKeyError::Malformed)?;
        let random = &text.as_bytes()[prefix.len()..];
        if random.len() != RANDOM_LENGTH + CHECKSUM_LENGTH || !random.iter().all(u8::is_ascii_alphanumeric) {
            return Err(ApiKeyError::Malformed);
        }
        let (body, given) = text.split_at(text.len() - CHECKSUM_LENGTH);
        if checksum(body) != given {
            return Err(ApiKeyError::WrongChecksum);
        }
        Ok(Self { mode, text: text.to_owned(), prefix_length: prefix.len() })
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The part that may be shown at any time, together with [`ApiKey::last_four`].
    pub fn prefix(&self) -> &str {
        &self.text[..self.prefix_length]
    }

    pub fn last_four(&self) -> &str {
        &self.text[self.text.len() - 4..]
    }

    /// The secret itself, to hash it, to verify it, or to show it once.
    pub fn expose(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}…{}", self.prefix(), self.last_four())
    }
}

fn base62_digit(value: u32) -> char {
    char::from(BASE62[value as usize % BASE62.len()])
}

/// CRC32 as six base62 digits, most significant first.
fn checksum(text: &str) -> String {
    let mut value = crc32fast::hash(text.as_bytes());
    let mut digits = [' '; CHECKSUM_LENGTH];
    for digit in digits.iter_mut().rev() {
        *digit = base62_digit(value % 62);
        value /= 62;
    }
    digits.iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment() -> KeySegment {
        KeySegment::new("waybill").unwrap()
    }

    #[test]
    fn a_key_round_trips_and_shows_only_its_prefix_and_last_four() {
        let key = ApiKey::generate(Mode::Test, &segment(), &Entropy::seeded(7));
        assert!(key.expose().starts_with("sk_test_waybill_"));
        assert_eq!(key.expose().len(), "sk_test_waybill_".len() + 36);
        assert_eq!(ApiKey::parse(key.expose(), &segment()), Ok(key.clone()));
        assert_eq!(format!("{key:?}"), format!("sk_test_waybill_…{}", key.last_four()));
        assert_eq!(
            ApiKey::generate(Mode::Live, &segment(), &Entropy::seeded(7)).prefix(),
            "sk_live_waybill_"
        );
    }

    #[test]
    fn any_changed_character_is_detected() {
        let key = ApiKey::generate(Mode::Live, &segment(), &Entropy::seeded(8));
        for at in 0..key.expose().len() {
            let mut changed = key.expose().as_bytes().to_vec();
            changed[at] = if changed[at] == b'a' { b'b' } else { b'a' };
            let changed = String::from_utf8(changed).unwrap();
            assert!(ApiKey::parse(&changed, &segment()).is_err(), "character {at}");
        }
    }

    #[test]
    fn other_forms_are_refused() {
        let key = ApiKey::generate(Mode::Test, &segment(), &Entropy::seeded(9));
        let other = KeySegment::new("other").unwrap();
        assert_eq!(ApiKey::parse(key.expose(), &other), Err(ApiKeyError::Malformed));
        for text in
            ["", "sk_test_waybill_", "sk_test_waybill_é", &key.expose()[..40], &format!("{}0", key.expose())]
        {
            assert_eq!(ApiKey::parse(text, &segment()), Err(ApiKeyError::Malformed), "{text}");
        }
        assert_eq!(KeySegment::new("Way_bill"), None);
    }
}

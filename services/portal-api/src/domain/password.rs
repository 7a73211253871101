//! A password as it came in. It never leaves this type other than to be hashed.

use std::fmt;

#[derive(Clone)]
pub(crate) struct Password(String);

impl Password {
    /// In characters.
    pub(crate) const MIN: usize = 8;
    /// In characters. Hashing time hardly depends on the length; this only keeps it bounded.
    pub(crate) const MAX: usize = 200;

    /// A password for a new account: any characters, spaces included, as they are.
    pub(crate) fn choose(text: &str) -> Option<Self> {
        (Self::MIN..=Self::MAX).contains(&text.chars().count()).then(|| Self(text.to_owned()))
    }

    /// What somebody typed to log in. One that no account can have is still compared, so that the time tells nothing.
    pub(crate) fn typed(text: &str) -> Self {
        Self(text.chars().take(Self::MAX + 1).collect())
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_counted_in_characters() {
        assert!(Password::choose("1234567").is_none());
        assert!(Password::choose("पासवर्ड१").is_some());
        assert!(Password::choose(&"x".repeat(200)).is_some());
        assert!(Password::choose(&"x".repeat(201)).is_none());
    }

    #[test]
    fn a_cut_password_is_none_that_could_be_chosen() {
        let typed = Password::typed(&"x".repeat(5_000));
        assert!(Password::choose(std::str::from_utf8(typed.as_bytes()).unwrap()).is_none());
    }
}

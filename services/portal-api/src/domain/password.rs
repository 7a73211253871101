//! A password as it came in. It never leaves this type other than to be hashed.

use std::fmt;

use super::Email;

/// Of eight characters or more, what people choose most often: what is tried first by whoever guesses. Sorted.
const COMMON: &str = include_str!("common_passwords.txt");

/// Why a password cannot be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    Short,
    Long,
    /// Guessed at once.
    Common,
}

#[derive(Clone)]
pub(crate) struct Password(String);

impl Password {
    /// In characters.
    pub(crate) const MIN: usize = 8;
    /// In characters. Hashing time hardly depends on the length; this only keeps it bounded.
    pub(crate) const MAX: usize = 200;

    /// A password for a new account: any characters, spaces included, as they are.
    pub(crate) fn choose(text: &str) -> Result<Self, Unfit> {
        match text.chars().count() {
            ..Self::MIN => Err(Unfit::Short),
            length if length > Self::MAX => Err(Unfit::Long),
            _ if is_common(text) => Err(Unfit::Common),
            _ => Ok(Self(text.to_owned())),
        }
    }

    /// Whether it is the e-mail that it would protect, or the part before its `@`.
    pub(crate) fn is_like(&self, email: &Email) -> bool {
        let (password, email) = (self.0.to_lowercase(), email.as_str().to_lowercase());
        password == email || email.split('@').next() == Some(&password)
    }

    /// What somebody typed to log in. One that no account can have is still compared, so that the time tells nothing.
    pub(crate) fn typed(text: &str) -> Self {
        Self(text.chars().take(Self::MAX + 1).collect())
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// One of the list, or something short or listed over and over again.
fn is_common(text: &str) -> bool {
    let text = text.to_lowercase();
    let unit = repeated_unit(&text);
    unit.chars().count() < Password::MIN || COMMON.lines().any(|common| common == unit)
}

/// `abab` is `ab`, twice; most texts are themselves, once.
fn repeated_unit(text: &str) -> &str {
    let ends = text.char_indices().map(|(at, _)| at).skip(1);
    let repeats = |end: &usize| {
        text.len().is_multiple_of(*end)
            && text.as_bytes().chunks(*end).all(|part| part == &text.as_bytes()[..*end])
    };
    ends.take_while(|end| *end <= text.len() / 2).find(repeats).map_or(text, |end| &text[..end])
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
        let of = |text: &str| Password::choose(text).map(|_| ()).err();
        assert_eq!(of("1a3b5c7"), Some(Unfit::Short));
        assert_eq!(of("पासवर्ड१"), None);
        let long: String = ('a'..='j').cycle().take(199).collect();
        assert_eq!(of(&format!("{long}.")), None);
        assert_eq!(of(&format!("{long}..")), Some(Unfit::Long));
    }

    #[test]
    fn what_is_guessed_first_cannot_be_chosen() {
        for common in
            ["password", "PassWord", "1234567890", "passwordpassword", "aaaaaaaaaaaa", "abcabcabcabc"]
        {
            assert_eq!(Password::choose(common).err(), Some(Unfit::Common), "{common}");
        }
        for fine in ["correct horse", "battery staple", "पासवर्ड१", "abcabcabcabd"] {
            assert!(Password::choose(fine).is_ok(), "{fine}");
        }
        assert!(COMMON.lines().count() > 500 && COMMON.lines().is_sorted());
    }

    #[test]
    fn a_password_is_not_the_email() {
        let email = Email::parse("Counter.Desk@shop.example").unwrap();
        let like = |text| Password::choose(text).unwrap().is_like(&email);
        assert!(like("counter.desk@shop.example") && like("Counter.Desk"));
        assert!(!like("counter.desk2"));
    }

    #[test]
    fn a_cut_password_is_none_that_could_be_chosen() {
        let typed = Password::typed(&"xyz.".repeat(1_250));
        assert!(Password::choose(std::str::from_utf8(typed.as_bytes()).unwrap()).is_err());
    }
}

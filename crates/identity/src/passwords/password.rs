//! Passwords in plain text. They leave this type only to be hashed.

use std::fmt;

use domain::Email;

/// The 5,000 most common passwords of at least eight characters, sorted. Attackers try them first.
const COMMON: &str = include_str!("common_passwords.txt");

/// Why a new password is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasswordRejection {
    Short,
    Long,
    Common,
}

#[derive(Clone)]
pub struct Password(String);

impl Password {
    /// In characters.
    pub const MIN: usize = 8;
    /// In characters. Bounds the hashing time, which hardly depends on the length.
    pub const MAX: usize = 200;

    /// A new password. All characters are allowed and kept, including spaces.
    pub fn new(text: &str) -> Result<Self, PasswordRejection> {
        match text.chars().count() {
            ..Self::MIN => Err(PasswordRejection::Short),
            length if length > Self::MAX => Err(PasswordRejection::Long),
            _ if is_common(text) => Err(PasswordRejection::Common),
            _ => Ok(Self(text.to_owned())),
        }
    }

    /// Whether the password is the user's e-mail address, or the part before its `@`.
    pub fn is_like(&self, email: &Email) -> bool {
        let (password, email) = (self.0.to_lowercase(), email.as_str().to_lowercase());
        let password = password.trim();
        password == email || email.split('@').next() == Some(password)
    }

    /// A password entered to log in. Invalid ones are compared too, so that the response time reveals nothing.
    pub fn entered(text: &str) -> Self {
        Self(text.chars().take(Self::MAX + 1).collect())
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Whether the password is in the list, or repeats a listed or short text.
fn is_common(text: &str) -> bool {
    let text = text.to_lowercase();
    let unit = repeated_unit(&text);
    unit.chars().count() < Password::MIN || COMMON.lines().any(|common| common == unit)
}

/// The shortest text whose repetition gives `text`: `ab` for `abab`, usually `text` itself.
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
        let of = |text: &str| Password::new(text).map(|_| ()).err();
        assert_eq!(of("1a3b5c7"), Some(PasswordRejection::Short));
        assert_eq!(of("पासवर्ड१"), None);
        let long: String = ('a'..='j').cycle().take(199).collect();
        assert_eq!(of(&format!("{long}.")), None);
        assert_eq!(of(&format!("{long}..")), Some(PasswordRejection::Long));
    }

    #[test]
    fn common_passwords_are_rejected() {
        for common in
            ["password", "PassWord", "1234567890", "passwordpassword", "aaaaaaaaaaaa", "abcabcabcabc"]
        {
            assert_eq!(Password::new(common).err(), Some(PasswordRejection::Common), "{common}");
        }
        for fine in ["correct horse", "battery staple", "पासवर्ड१", "abcabcabcabd"] {
            assert!(Password::new(fine).is_ok(), "{fine}");
        }
        // OWASP ASVS 6.2.4 requires 3,000.
        assert!(COMMON.lines().count() > 3_000 && COMMON.lines().is_sorted());
    }

    #[test]
    fn a_password_must_not_be_the_email() {
        let email = Email::parse("Counter.Desk@shop.example").unwrap();
        let like = |text| Password::new(text).unwrap().is_like(&email);
        assert!(like("counter.desk@shop.example") && like("Counter.Desk") && like(" counter.desk "));
        assert!(!like("counter.desk2"));
    }

    #[test]
    fn a_truncated_password_is_never_valid() {
        let entered = Password::entered(&"xyz.".repeat(1_250));
        assert!(Password::new(std::str::from_utf8(entered.as_bytes()).unwrap()).is_err());
    }
}

//! Second factors of accounts: codes of an authenticator app (RFC 6238), and recovery codes.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use domain::Entropy;
use sha2::{Digest, Sha256};
use totp_rs::{Builder, Secret, Totp};

/// The length of the periods in which codes are valid.
const STEP_SECONDS: u64 = 30;
/// Codes of this many periods before and after the present one are accepted, because clocks differ.
const STEPS_AROUND: u16 = 1;
/// 160 bits, as RFC 4226 recommends.
const SECRET_BYTES: usize = 20;
/// 120 bits, so that a copy of the digests does not help: OWASP ASVS 6.5.2 requires 112.
const RECOVERY_BYTES: usize = 15;
const RECOVERY_CHARACTERS: usize = 24;
const RECOVERY_CODES: usize = 10;

/// The right password alone opens nothing for longer than this.
pub(super) const CHALLENGE_LASTS: TimeDelta = TimeDelta::minutes(5);
/// Codes that one challenge accepts for checking. Then the password must be entered again.
pub(super) const CHALLENGE_TRIES: i32 = 5;

/// The second factor of an account as its owner sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FactorStatus {
    /// `None` without a confirmed factor.
    pub confirmed_at: Option<DateTime<Utc>>,
    pub recovery_codes_left: i64,
}

/// The secret that the service shares with the authenticator app.
pub struct FactorSecret(Secret);

impl FactorSecret {
    pub fn generate(entropy: &Entropy) -> Self {
        Self(Secret::new_stack(entropy.bytes::<SECRET_BYTES>()))
    }

    /// `None` if the text was not written by [`Self::expose`].
    pub fn parse(text: &str) -> Option<Self> {
        let secret = Secret::try_from_base32(text).ok()?;
        (secret.as_bytes().len() == SECRET_BYTES).then_some(Self(secret))
    }

    /// Base32, which people can type into the app.
    pub fn expose(&self) -> String {
        self.0.to_base32()
    }

    /// The `otpauth:` URL for the app. `None` if a name cannot be written in it.
    pub fn url(&self, issuer: &str, email: &str) -> Option<String> {
        // A colon separates the two names.
        let (issuer, email) = (issuer.replace(':', " "), email.replace(':', " "));
        let named = self.builder().with_issuer(Some(issuer)).with_account_name(email);
        named.build().ok()?.to_url().ok()
    }

    /// The period of a right code. Compares in constant time.
    pub fn step_of(&self, code: &str, now: DateTime<Utc>) -> Option<i64> {
        let seconds = u64::try_from(now.timestamp()).ok()?;
        self.totp()?.check(code, seconds).and_then(|step| i64::try_from(step).ok())
    }

    fn totp(&self) -> Option<Totp> {
        self.builder().with_account_name("account").build().ok()
    }

    /// Six digits and HMAC-SHA-1: all that every app supports.
    fn builder(&self) -> Builder {
        let codes = Builder::new().with_step_duration(STEP_SECONDS).with_skew(STEPS_AROUND);
        codes.with_digits(6).with_secret(self.0.clone())
    }
}

/// A code for the case that the app is lost. Works once.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecoveryCode(String);

impl RecoveryCode {
    /// A new set of different codes.
    pub fn generate_set(entropy: &Entropy) -> Vec<Self> {
        let mut codes = BTreeSet::new();
        while codes.len() < RECOVERY_CODES {
            let random = entropy.bytes::<RECOVERY_BYTES>();
            codes.insert(Self(Secret::new(Box::new(random)).to_base32()));
        }
        codes.into_iter().collect()
    }

    /// In groups of four characters, in lower case.
    pub fn expose(&self) -> String {
        let text = self.0.to_ascii_lowercase();
        let groups: Vec<&str> =
            (0..RECOVERY_CHARACTERS).step_by(4).filter_map(|at| text.get(at..at + 4)).collect();
        groups.join("-")
    }

    /// The stored form. Differs between accounts.
    pub fn digest(&self, account: &str) -> [u8; 32] {
        Sha256::digest(format!("{account}:{}", self.0)).into()
    }
}

/// A code as a person enters it.
#[derive(Clone, PartialEq, Eq)]
pub enum FactorCode {
    App(String),
    Recovery(RecoveryCode),
}

impl FactorCode {
    /// `None` if no code looks like this. Accepts spaces, hyphens and lower case.
    pub fn parse(text: &str) -> Option<Self> {
        let bare: String = text.chars().filter(|character| !matches!(character, ' ' | '-')).collect();
        if bare.len() == 6 && bare.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(Self::App(bare));
        }
        let bare = bare.to_ascii_uppercase();
        let is_base32 = bare.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'2'..=b'7'));
        (bare.len() == RECOVERY_CHARACTERS && is_base32).then_some(Self::Recovery(RecoveryCode(bare)))
    }
}

/// Whether the last authentication is recent enough for a sensitive call. `None` is no limit.
pub fn is_recent(at: DateTime<Utc>, within: Option<TimeDelta>, now: DateTime<Utc>) -> bool {
    within.is_none_or(|within| now < at + within)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The secret of RFC 6238, appendix B.
    fn rfc() -> FactorSecret {
        FactorSecret(Secret::new_stack(*b"12345678901234567890"))
    }

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).unwrap()
    }

    #[test]
    fn codes_are_those_of_rfc_6238() {
        // The last six of the eight digits in the table.
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(rfc().step_of(code, at(seconds)), Some(seconds / 30), "{seconds}");
        }
    }

    #[test]
    fn codes_of_the_previous_and_the_next_period_are_accepted() {
        let (code, first) = ("050471", 1_111_111_110);
        for (seconds, step) in [
            (first - 31, None),
            (first - 30, Some(first / 30)),
            (first, Some(first / 30)),
            (first + 29, Some(first / 30)),
            (first + 59, Some(first / 30)),
            (first + 60, None),
        ] {
            assert_eq!(rfc().step_of(code, at(seconds)), step, "{}", seconds - first);
        }
        for bad in ["50471", "0050471", "+50471", "05 471", "", "o50471"] {
            assert_eq!(rfc().step_of(bad, at(first)), None, "{bad}");
        }
    }

    #[test]
    fn the_url_names_the_issuer_and_the_account() {
        let url = rfc().url("Way:bill", "owner@shop.example").unwrap();
        assert!(url.starts_with("otpauth://totp/Way%20bill:owner%40shop"), "{url}");
        assert!(url.contains("secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"), "{url}");
        assert!(url.contains("issuer=Way%20bill"), "{url}");
    }

    #[test]
    fn a_secret_is_read_back() {
        let secret = FactorSecret::generate(&Entropy::seeded(1));
        assert_eq!(FactorSecret::parse(&secret.expose()).unwrap().expose(), secret.expose());
        assert_eq!(secret.expose().len(), 32);
        for bad in ["", "GEZDGNBV", "1"] {
            assert!(FactorSecret::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn recovery_codes_differ_and_are_read_as_people_type_them() {
        let codes = RecoveryCode::generate_set(&Entropy::seeded(1));
        assert_eq!(codes.len(), RECOVERY_CODES);
        let digests: BTreeSet<_> = codes.iter().map(|code| code.digest("usr_1")).collect();
        assert_eq!(digests.len(), RECOVERY_CODES);
        let shown = codes[0].expose();
        assert_eq!(shown.len(), 29);
        for typed in [shown.clone(), shown.to_uppercase(), shown.replace('-', ""), shown.replace('-', " ")] {
            assert!(FactorCode::parse(&typed) == Some(FactorCode::Recovery(codes[0].clone())), "{typed}");
        }
    }

    #[test]
    fn only_codes_are_parsed() {
        assert!(FactorCode::parse("123 456") == Some(FactorCode::App("123456".to_owned())));
        for bad in [
            "",
            "12345",
            "1234567",
            "abcdef",
            "aaaa-aaaa-aaaa-aaaa",
            "aaaa-aaaa-aaaa-aaaa-aaaa-aaa1",
            "１２３４５６",
        ] {
            assert!(FactorCode::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn an_authentication_is_recent_until_its_last_second() {
        let within = Some(TimeDelta::minutes(15));
        assert!(is_recent(at(0), within, at(899)));
        assert!(!is_recent(at(0), within, at(900)));
        assert!(is_recent(at(0), None, at(1_000_000)));
    }
}

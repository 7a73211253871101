//! Phone numbers with country code (SPECIFICATION §2.1).

use std::fmt;

use phonenumber::PhoneNumber;
use phonenumber::metadata::DATABASE;

use crate::text::is_invisible;

/// A number in the form of ITU-T E.164: `+919812345678`. Its length is valid in its country's numbering plan. Ranges
/// are not checked, because new ranges appear faster than any library updates.
#[derive(Clone, PartialEq, Eq)]
pub struct Phone(String);

impl Phone {
    /// E.164: at most 15 digits with the country code. No country has numbers of fewer than 7.
    const DIGITS: std::ops::RangeInclusive<usize> = 7..=15;

    /// Parses `+` and digits, optionally separated by spaces, hyphens, dots or brackets. Returns `None` without a
    /// country code and for a length that the country does not use, so that a missing digit is reported to the shop at
    /// once.
    pub fn parse(text: &str) -> Option<Self> {
        // The library also accepts letters (1-800-FLOWERS), extensions and `tel:` addresses; Waybill does not.
        // Numbers copied from address books can contain invisible direction marks.
        let seen: String = text.chars().filter(|c| !is_invisible(*c)).collect();
        let digits: String = seen.trim().strip_prefix('+')?.chars().filter(|c| !is_separator(*c)).collect();
        if !Self::DIGITS.contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let number = phonenumber::parse(None, format!("+{digits}")).ok()?;
        // As the library's formatter for E.164 writes it, without that formatter's search for a national format.
        is_possible(&number).then(|| Self(format!("+{}{}", number.code().value(), number.national())))
    }

    /// The number that an Indian shop probably means, which stores mobile numbers as ten digits, with or without 0 or 91
    /// in front. `None` for other texts.
    pub fn guess_indian(text: &str) -> Option<Self> {
        let digits: String = text.trim().chars().filter(|c| !is_separator(*c)).collect();
        let mobile = match digits.len() {
            11.. => digits.strip_prefix("0091").or(digits.strip_prefix("91")).or(digits.strip_prefix('0'))?,
            _ => &digits,
        };
        let is_mobile = mobile.len() == 10 && mobile.starts_with(['6', '7', '8', '9']);
        is_mobile.then(|| Self::parse(&format!("+91{mobile}"))).flatten()
    }

    /// Loads the numbering plans of all countries. Takes about 60 ms, which the first number would otherwise pay.
    pub fn load_numbering_plans() {
        let _plans: &phonenumber::metadata::Database = &DATABASE;
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0
    }
}

fn is_separator(c: char) -> bool {
    matches!(c, ' ' | '\u{A0}' | '-' | '.' | '(' | ')')
}

/// Whether a fixed-line or mobile number of that country can have this length. Short codes cannot be called from
/// abroad.
fn is_possible(number: &PhoneNumber) -> bool {
    let national = number.national();
    let length = u16::from(national.zeros()) + national.value().to_string().len() as u16;
    DATABASE.by_code(&number.code().value()).into_iter().flatten().any(|plan| {
        let kinds = [plan.descriptors().fixed_line(), plan.descriptors().mobile()];
        kinds.into_iter().flatten().any(|kind| kind.possible_length().contains(&length))
    }) || phonenumber::is_valid(number)
}

impl fmt::Debug for Phone {
    /// Hides the number from logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Phone(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn normal(text: &str) -> Option<String> {
        Phone::parse(text).map(Phone::into_string)
    }

    #[test]
    fn numbers_with_country_code_get_their_normal_form() {
        for (given, expected) in [
            ("+919876543210", "+919876543210"),
            (" +91 98765-43210 ", "+919876543210"),
            ("+91.(98765).43210", "+919876543210"),
            ("+91 098765 43210", "+919876543210"),
            ("+1 (415) 555-0100", "+14155550100"),
            ("+44 20 7946 0000", "+442079460000"),
            ("+39 06 1234567", "+39061234567"),
            ("+378 0549 886377", "+3780549886377"),
            ("+8801712345678", "+8801712345678"),
            // The right length, in a range that is not assigned.
            ("+911234567890", "+911234567890"),
            ("+15555550100", "+15555550100"),
        ] {
            assert_eq!(normal(given).as_deref(), Some(expected), "{given}");
            let number = phonenumber::parse(None, given).unwrap();
            assert_eq!(number.format().mode(phonenumber::Mode::E164).to_string(), expected, "{given}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for bad in [
            "",
            "+",
            "9876543210",
            "919876543210",
            "00919876543210",
            "+91987654321",
            "+9198765432101234",
            "+99912345678",
            "+0123456789",
            "+91x9876543210",
            "+919876543210 ext 5",
            "+1800FLOWERS",
            "tel:+919876543210",
            "++919876543210",
            "+919876543210+",
            "+٩١٩٨٧٦٥٤٣٢١٠",
            "+91987654\u{0}3210",
        ] {
            assert_eq!(normal(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn an_indian_number_without_country_code_is_recognised() {
        #[derive(serde::Deserialize)]
        struct Case {
            given: String,
            expected: String,
        }
        let cases = include_str!("../../../proto-docs/clients/vectors/indian-phones.json");
        for Case { given, expected } in serde_json::from_str::<Vec<Case>>(cases).unwrap() {
            let guess = Phone::guess_indian(&given).map(Phone::into_string);
            assert_eq!(guess, (expected != given).then_some(expected), "{given}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in r"\+?[0-9 ().+-]{0,24}|\PC{0,24}") {
            if let Some(phone) = normal(&text) {
                prop_assert_eq!(normal(&phone), Some(phone.clone()), "the normal form is its own");
                prop_assert!(phone.len() <= 16 && phone[1..].bytes().all(|byte| byte.is_ascii_digit()));
            }
        }
    }
}

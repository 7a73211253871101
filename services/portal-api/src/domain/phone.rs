//! What a pickup profile's phone and pincode may be.

/// With country code: `+` and 8 to 15 digits, which spaces, hyphens and brackets may part (ITU-T E.164).
pub(crate) fn is_phone(text: &str) -> bool {
    let Some(number) = text.strip_prefix('+') else { return false };
    let digits = number.chars().filter(char::is_ascii_digit).count();
    let rest_parts = number.chars().all(|c| c.is_ascii_digit() || matches!(c, ' ' | '-' | '(' | ')'));
    let begins = number.starts_with(|c: char| c.is_ascii_digit() && c != '0');
    (8..=15).contains(&digits) && rest_parts && begins
}

/// An Indian postal code: six digits, the first not 0.
pub(crate) fn is_pincode(text: &str) -> bool {
    text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phones() {
        for good in ["+919876543210", "+91 98765 43210", "+1 (415) 555-0100", "+12345678", "+123456789012345"]
        {
            assert!(is_phone(good), "{good}");
        }
        for bad in [
            "",
            "+",
            "9876543210",
            "+1234567",
            "+1234567890123456",
            "+91x9876543210",
            "+0123456789",
            "+٩١٩٨٧٦٥٤٣٢",
        ] {
            assert!(!is_phone(bad), "{bad}");
        }
    }

    #[test]
    fn pincodes() {
        assert!(is_pincode("560001"));
        for bad in ["", "056001", "56000", "5600011", "56000a", "५६०००१"] {
            assert!(!is_pincode(bad), "{bad}");
        }
    }
}

//! What a pickup profile's pincode may be.

/// An Indian postal code: six digits, the first not 0.
pub(crate) fn is_pincode(text: &str) -> bool {
    text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pincodes() {
        assert!(is_pincode("560001"));
        for bad in ["", "056001", "56000", "5600011", "56000a", "५६०००१"] {
            assert!(!is_pincode(bad), "{bad}");
        }
    }
}

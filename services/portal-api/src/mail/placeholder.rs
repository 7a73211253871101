//! The token of a link in a queued mail, which is stored apart from the text.

/// Replaces the token in queued texts. Stored: never change it.
const PLACEHOLDER: &str = "⟦secret of the link⟧";

pub(super) fn with_placeholder(text: &str, token: &str) -> String {
    text.replace(token, PLACEHOLDER)
}

pub(super) fn with_token(text: &str, token: &str) -> String {
    text.replace(PLACEHOLDER, token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_placeholder_is_replaced_by_the_token() {
        let text =
            "https://portal.example/invitation#token=abc, or https://portal.example/invitation#token=abc";
        assert!(!with_placeholder(text, "abc").contains("abc"));
        assert_eq!(with_token(&with_placeholder(text, "abc"), "abc"), text);
    }
}

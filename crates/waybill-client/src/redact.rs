//! Keeps keys and secrets out of messages and dumps.

const SECRETS: [&str; 3] = ["sk_test_", "sk_live_", "whsec_"];
const MESSAGE_MAX_CHARS: usize = 500;

/// Replaces API keys and signing secrets, as `sk_test_…`.
pub(crate) fn redact(text: &str) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, prefix)) = first_secret(rest) {
        let after = &rest[before + prefix.len()..];
        let secret = after.len() - after.trim_start_matches(is_of_secret).len();
        redacted.push_str(&rest[..before + prefix.len()]);
        if secret > 0 {
            redacted.push('…');
        }
        rest = &after[secret..];
    }
    redacted + rest
}

fn first_secret(text: &str) -> Option<(usize, &'static str)> {
    let found = SECRETS.iter().filter_map(|prefix| Some((text.find(prefix)?, *prefix)));
    found.min_by_key(|(at, _)| *at)
}

/// Also of one that is percent-encoded.
fn is_of_secret(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_+/=%-".contains(character)
}

/// Makes a text from outside safe to store and show: short, on one line, without secrets.
pub(crate) fn safe_text(text: &str) -> String {
    let mut safe = String::new();
    for character in redact(text).chars().take(MESSAGE_MAX_CHARS) {
        let character = if character.is_control() { ' ' } else { character };
        if character != ' ' || !safe.ends_with(' ') {
            safe.push(character);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_secrets_are_replaced() {
        let text = "Bearer sk_live_a-b_c9 and (sk_test_x), whsec_AA+/=\nsk_test_";
        assert_eq!(redact(text), "Bearer sk_live_… and (sk_test_…), whsec_…\nsk_test_");
        assert_eq!(redact("?key=%22sk_live_a%2Db_c9%22&x"), "?key=%22sk_live_…&x");
        assert_eq!(redact("9whsec_AA%2B%2FAAA%3D and_sk_test_x"), "9whsec_… and_sk_test_…");
        assert_eq!(safe_text("The key sk_test_abc\r\nis wrong"), "The key sk_test_… is wrong");
        assert_eq!(safe_text(&"é".repeat(1_000)).chars().count(), MESSAGE_MAX_CHARS);
    }
}

//! Keeps keys and secrets out of messages and dumps.

use serde_json::Value;

const SECRETS: [&str; 3] = ["sk_test_", "sk_live_", "whsec_"];
const MESSAGE_MAX_CHARS: usize = 500;
/// A key or secret with its prefix is at least as long.
const SECRET_MIN_CHARS: usize = 32;

/// Replaces API keys and signing secrets, as `sk_test_…`.
pub(crate) fn redact(text: &str) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, prefix)) = first_secret(rest) {
        let after = &rest[before + prefix.len()..];
        let mut secret = after.len() - after.trim_start_matches(is_of_secret).len();
        redacted.push_str(&rest[..before + prefix.len()]);
        // Behind a letter, only what is as long as a key: `desk_test_17` is none.
        let is_in_word = rest[..before].ends_with(|character: char| character.is_ascii_alphabetic());
        if is_in_word && prefix.len() + secret < SECRET_MIN_CHARS {
            secret = 0;
        }
        if secret > 0 {
            redacted.push('…');
        }
        rest = &after[secret..];
    }
    redacted + rest
}

/// Replaces them in the texts of a JSON value.
pub(crate) fn redact_all(value: &mut Value) {
    match value {
        Value::String(text) => *text = redact(text),
        Value::Array(parts) => parts.iter_mut().for_each(redact_all),
        Value::Object(fields) => fields.values_mut().for_each(redact_all),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
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
        assert_eq!(redact("desk_test_17 and risk_live_x"), "desk_test_17 and risk_live_x");
        let key = format!("sk_live_waybill_{}", "a1".repeat(18));
        assert_eq!(redact(&format!(r"key:\n{key}, {key}")), r"key:\nsk_live_…, sk_live_…");
        assert_eq!(safe_text("The key sk_test_abc\r\nis wrong"), "The key sk_test_… is wrong");
        assert_eq!(safe_text(&"é".repeat(1_000)).chars().count(), MESSAGE_MAX_CHARS);
    }
}

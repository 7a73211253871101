//! Phone numbers as shops in India store them.

/// The number with its country code, `+919800000001`: ten digits of an Indian mobile number, with or without 0 or 91 in
/// front, get +91. Other texts stay as they are, and the service refuses them if they are no number.
pub fn indian_phone(text: &str) -> String {
    let is_separator = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '.' | '-');
    let digits: String = text.chars().filter(|c| !is_separator(*c)).collect();
    // The longest first: a number of ten digits can begin with 91.
    let ends = ["0091", "91", "0", ""].into_iter().filter_map(|prefix| digits.strip_prefix(prefix));
    let is_mobile = |number: &&str| {
        number.len() == 10
            && number.starts_with(['6', '7', '8', '9'])
            && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    ends.into_iter().find(is_mobile).map_or_else(|| text.to_owned(), |mobile| format!("+91{mobile}"))
}

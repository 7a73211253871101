//! Masks phones and e-mail addresses in free text, such as the response of a business's endpoint.

/// In place of what is hidden, however long it is.
const HIDDEN: &str = "••••••";
/// The last digits of a phone, by which people recognise it.
const SHOWN_DIGITS: usize = 4;
/// Shorter numbers are no phones.
const PHONE_DIGITS_MIN: usize = 8;
/// How JSON and programs write spaces within a text that is shown as it was sent.
const ESCAPED_SPACES: [&str; 5] = ["\\t", "\\u00a0", "\\u00A0", "\\u0020", "\\xa0"];

/// `••••••3210`
pub(super) fn masked_phone(phone: &str) -> String {
    let digits: Vec<char> = phone.chars().filter(|char| char.is_numeric()).collect();
    if digits.len() < PHONE_DIGITS_MIN {
        return HIDDEN.to_owned();
    }
    let shown: String = digits[digits.len() - SHOWN_DIGITS..].iter().collect();
    format!("{HIDDEN}{shown}")
}

/// Masks e-mail addresses, and numbers that are as long as phones. Times stay.
pub(super) fn masked_text(text: &str) -> String {
    masked_phones(&masked_emails(text))
}

fn masked_phones(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first.is_numeric() {
            false => first.len_utf8(),
            true => match time_length(rest) {
                0 => {
                    let length = number_length(rest);
                    push_number(&mut masked, &rest[..length]);
                    rest = &rest[length..];
                    continue;
                }
                length => length,
            },
        };
        masked.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    masked
}

/// The length of the number at the start, with the separators within it.
fn number_length(text: &str) -> usize {
    let mut end = 0;
    let mut at = 0;
    while let Some(char) = text[at..].chars().next() {
        if char.is_numeric() {
            at += char.len_utf8();
            end = at;
        } else if let Some(escaped) = ESCAPED_SPACES.iter().find(|escaped| text[at..].starts_with(**escaped))
        {
            at += escaped.len();
        } else if is_separator(char) {
            at += char.len_utf8();
        } else {
            break;
        }
    }
    end
}

/// What people write between the digits of a phone: spaces of any width, dashes, dots, brackets, and what is invisible.
fn is_separator(char: char) -> bool {
    let is_space = char.is_whitespace() && !matches!(char, '\n' | '\r');
    let is_invisible = matches!(char, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}');
    is_space || is_invisible || matches!(char, '-' | '.' | '(' | ')' | '/' | '\u{2010}'..='\u{2015}')
}

fn push_number(text: &mut String, number: &str) {
    let digits = number.chars().filter(|char| char.is_numeric()).count();
    if digits < PHONE_DIGITS_MIN { text.push_str(number) } else { text.push_str(&masked_phone(number)) }
}

/// The length of the date or time of RFC 3339 at the start; 0 if there is none.
fn time_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |at: usize, count: usize| {
        bytes.get(at..at + count).is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    let is = |at: usize, byte: u8| bytes.get(at) == Some(&byte);
    let within = |at: usize, max: u8| {
        let number = |at: usize| bytes[at] - b'0';
        (1..=max).contains(&(number(at) * 10 + number(at + 1)))
    };
    let is_date = (text.starts_with("19") || text.starts_with("20"))
        && digits(0, 4)
        && is(4, b'-')
        && digits(5, 2)
        && within(5, 12)
        && is(7, b'-')
        && digits(8, 2)
        && within(8, 31);
    if !is_date || text[10..].starts_with(char::is_numeric) {
        return 0;
    }
    let has_time = (is(10, b'T') || is(10, b' ')) && digits(11, 2) && is(13, b':') && digits(14, 2);
    if !has_time {
        return 10;
    }
    if !(is(16, b':') && digits(17, 2)) {
        return 16;
    }
    let fraction =
        bytes.get(20..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count();
    // Longer ones are no fractions of a second.
    if is(19, b'.') && (1..=9).contains(&fraction) { 20 + fraction } else { 19 }
}

fn masked_emails(text: &str) -> String {
    let is_part = |char: char| !char.is_whitespace() && !"<>()[]{}\",;:'\\|".contains(char);
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if !is_part(first) {
            masked.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let word = &rest[..rest.find(|char: char| !is_part(char)).unwrap_or(rest.len())];
        let is_email = word.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
        masked.push_str(if is_email { HIDDEN } else { word });
        rest = &rest[word.len()..];
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phones_are_masked_however_they_are_written() {
        for (text, expected) in [
            ("stored 9876543210.", "stored ••••••3210."),
            ("+91 98765-43210 (home)", "+••••••3210 (home)"),
            ("{\"phone\":\"+919876543210\"}", "{\"phone\":\"+••••••3210\"}"),
            ("98765\t43210", "••••••3210"),
            ("98765\\t43210", "••••••3210"),
            ("98765\u{a0}43210", "••••••3210"),
            ("98765\\u00a043210", "••••••3210"),
            ("98765\u{2009}43210, 98765\u{200b}43210", "••••••3210, ••••••3210"),
            ("98765\u{2011}43210/98765–43210", "••••••3210"),
            ("(080) 2222.3333", "(••••••3333"),
            ("HTTP 500 in 1234567 ms", "HTTP 500 in 1234567 ms"),
            ("९८७६५४३२१०", "••••••३२१०"),
            ("1234\n5678", "1234\n5678"),
            ("", ""),
        ] {
            assert_eq!(masked_text(text), expected, "{text:?}");
        }
        assert_eq!(masked_phone("12345"), HIDDEN);
    }

    #[test]
    fn times_stay_and_phones_next_to_them_do_not() {
        for time in [
            "2026-11-26",
            "2026-11-26T10:00:00Z",
            "2026-11-26T10:00:00.123456789Z",
            "2026-11-26 10:00:00.123456+05:30",
            "{\"occurredAt\":\"2026-01-31T09:30:00.000Z\"}",
        ] {
            assert_eq!(masked_text(time), time);
        }
        for (text, expected) in [
            ("2026-11-26 9876543210", "2026-11-26 ••••••3210"),
            ("2026-11-26T10:00:00.9876543210", "2026-11-26T10:00:00.••••••3210"),
            ("9876-54-3210", "••••••3210"),
            ("2026-13-26", "••••••1326"),
            ("2026-11-265432", "••••••5432"),
            ("1980-80-8080", "••••••8080"),
            ("12026-11-26", "••••••1126"),
        ] {
            assert_eq!(masked_text(text), expected, "{text:?}");
        }
    }

    #[test]
    fn email_addresses_are_masked() {
        for (text, expected) in [
            ("write to asha@home.example now", "write to •••••• now"),
            ("<asha+shop@home.example>", "<••••••>"),
            ("{\"to\":\"asha@home.example\"}", "{\"to\":\"••••••\"}"),
            ("mailto:asha@home.example", "mailto:••••••"),
            ("2 @ 500, @shop, a@", "2 @ 500, @shop, a@"),
            ("आशा@उदाहरण.example", "••••••"),
        ] {
            assert_eq!(masked_text(text), expected, "{text:?}");
        }
    }
}

//! The number of a business for the goods and services tax of India (GSTIN).

const DIGITS: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// Before the check digit.
const NUMBER: usize = 14;

/// The GSTIN in capital letters: the state, the PAN, a number of the registration, a letter or digit, and the check digit. `None`
/// if the text is none.
pub(crate) fn gstin(text: &str) -> Option<String> {
    let text = text.to_ascii_uppercase();
    let of = |byte: u8| DIGITS.iter().position(|digit| *digit == byte);
    let digits: Vec<usize> = text.bytes().map(of).collect::<Option<_>>()?;
    let (number, [check]) = digits.split_at_checked(NUMBER)? else { return None };
    let is_letter = |digit: &usize| *digit >= 10;
    let [letters, numbers, last] = [number.get(2..7)?, number.get(7..11)?, number.get(11..12)?];
    let has_pan =
        letters.iter().all(is_letter) && !numbers.iter().any(is_letter) && last.iter().all(is_letter);
    let has_state = matches!(text.get(..2)?.parse::<u32>(), Ok(1..=38 | 97 | 99));
    let is_valid = has_state && has_pan && number.get(12) != Some(&0) && check_digit(number) == *check;
    is_valid.then_some(text)
}

/// Every second digit counts twice, as the sum of the digits of its double.
fn check_digit(number: &[usize]) -> usize {
    let base = DIGITS.len();
    let counted = number.iter().enumerate().map(|(position, digit)| digit * (1 + position % 2));
    let sum: usize = counted.map(|counted| counted / base + counted % base).sum();
    (base - sum % base) % base
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "29AAGCB7383J1Z4";

    #[test]
    fn a_gstin_has_a_state_a_pan_and_a_check_digit() {
        for text in [VALID, "27AAPFU0939F1ZV", "29aagcb7383j1z4"] {
            assert_eq!(gstin(text), Some(text.to_uppercase()));
        }
        for text in [
            "",
            "29AAGCB7383J1Z",
            "29AAGCB7383J1Z44",
            "29AAGCB7383J1Z5",
            // Of no state, and of the registration 0, with their check digits.
            "39AAGCB7383J1Z3",
            "00AAGCB7383J1ZO",
            "29AAGCB7383J0Z5",
            "29AAGCB7383J1Z\u{ff14}",
            "29 AGCB7383J1Z4",
        ] {
            assert_eq!(gstin(text), None, "{text}");
        }
    }

    #[test]
    fn a_wrong_character_is_noticed() {
        for position in 0..VALID.len() {
            for digit in DIGITS {
                let mut text = VALID.as_bytes().to_vec();
                text[position] = *digit;
                let text = String::from_utf8(text).unwrap();
                assert_eq!(gstin(&text).is_some(), text == VALID, "{text}");
            }
        }
    }
}

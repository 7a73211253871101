//! Indian postal codes.

/// Six digits; the first is not 0. Spaces are ignored, because people write `560 038`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pincode(String);

impl Pincode {
    const DIGITS: usize = 6;

    /// `None` when the text is not a PIN code.
    pub fn parse(text: &str) -> Option<Self> {
        let digits: String = text.chars().filter(|c| !matches!(c, ' ' | '\u{A0}')).collect();
        let is_code = digits.len() == Self::DIGITS
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && !digits.starts_with('0');
        is_code.then_some(Self(digits))
    }

    pub fn into_string(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_code_has_six_digits_and_does_not_start_with_0() {
        for good in ["560038", "560 038", " 560038 ", "560\u{A0}038", "999999", "100000"] {
            let plain: String = good.chars().filter(char::is_ascii_digit).collect();
            assert_eq!(Pincode::parse(good).map(Pincode::into_string), Some(plain), "{good:?}");
        }
        for bad in [
            "",
            " ",
            "056003",
            "56003",
            "5600380",
            "56003a",
            "५६००३८",
            "560-038",
            "560\t038",
            "+56003",
            "56003\u{200B}8",
        ] {
            assert_eq!(Pincode::parse(bad), None, "{bad:?}");
        }
    }
}

//! Large numbers, grouped so that people can read them.

/// How a region groups the digits of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DigitGroups {
    /// The last three, then pairs: `1,00,000`.
    Indian,
    /// Threes: `100,000`.
    Western,
}

impl DigitGroups {
    pub fn grouped(self, number: u64) -> String {
        let digits = number.to_string();
        let mut grouped = String::with_capacity(digits.len() * 2);
        for (index, digit) in digits.char_indices() {
            if index > 0 && self.starts_group(digits.len() - index) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        grouped
    }

    /// Whether a group starts at the digit that has `remaining` digits to the end, itself included.
    fn starts_group(self, remaining: usize) -> bool {
        match self {
            Self::Indian => remaining == 3 || (remaining > 3 && !remaining.is_multiple_of(2)),
            Self::Western => remaining.is_multiple_of(3),
        }
    }
}

//! Character classes for texts. People read a text and programs compare it: invisible characters make two texts that
//! look the same differ.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Control characters (Unicode category Cc), including NUL.
pub fn is_control(c: char) -> bool {
    c.is_control()
}

/// The control characters that a text of several lines may contain.
pub fn is_line_break_or_tab(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\t')
}

/// Characters that show nothing or change how others show: format characters (Cf: zero-width spaces and joiners,
/// direction overrides, soft hyphens), line and paragraph separators, and the other code points that Unicode lets
/// programs ignore.
///
/// Human text needs some of them: Indic scripts use U+200C and U+200D, and mixed Arabic and Latin text uses direction
/// marks.
pub fn is_invisible(c: char) -> bool {
    let category = c.general_category();
    let separates_or_formats = matches!(
        category,
        GeneralCategory::Format | GeneralCategory::LineSeparator | GeneralCategory::ParagraphSeparator
    );
    separates_or_formats || is_ignorable_letter_or_mark(c)
}

/// `Default_Ignorable_Code_Point` of Unicode 16 outside Cf: joiners and fillers of letter or mark categories, variation
/// selectors, and reserved code points.
fn is_ignorable_letter_or_mark(c: char) -> bool {
    matches!(
        c,
        '\u{34F}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{2065}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFF8}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}

/// Unicode's composed form, NFC. Texts that look the same then have the same bytes: é is one character, not e and an
/// accent.
pub fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfc().collect())
}

/// Whether the text has no visible character.
pub fn looks_empty(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_invisible(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_recognised() {
        for c in [
            '\u{AD}',
            '\u{200B}',
            '\u{200C}',
            '\u{200D}',
            '\u{200E}',
            '\u{202E}',
            '\u{2028}',
            '\u{2029}',
            '\u{2060}',
            '\u{2066}',
            '\u{FEFF}',
            '\u{E0041}',
            '\u{3164}',
            '\u{FE0F}',
            '\u{34F}',
            '\u{61C}',
        ] {
            assert!(is_invisible(c), "U+{:04X}", u32::from(c));
            assert!(!is_control(c));
        }
        for c in ['a', ' ', '\u{A0}', 'ü', 'क', '्', '漢', '-', '\u{301}', '😀', '₹'] {
            assert!(!is_invisible(c), "U+{:04X}", u32::from(c));
        }
        for c in ['\0', '\u{1}', '\n', '\u{7F}', '\u{85}', '\u{9F}'] {
            assert!(is_control(c) && !is_invisible(c), "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn a_composed_text_has_each_accent_within_its_letter() {
        assert_eq!(composed("Cafe\u{301} 1"), "Caf\u{e9} 1");
        assert!(matches!(composed("Caf\u{e9} 1"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_text_without_visible_characters_looks_empty() {
        for empty in ["", "  ", "\u{3000}\u{A0}", "\u{200B}", " \u{FEFF}\u{200D} "] {
            assert!(looks_empty(empty), "{empty:?}");
        }
        assert!(!looks_empty("क\u{94D}\u{200D}"));
    }
}

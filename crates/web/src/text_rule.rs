//! The limits of text fields.

use domain::{is_control, is_invisible, is_line_break_or_tab, looks_empty};

/// The limits of a text. Surrounding Unicode white space is trimmed; control characters are rejected.
#[derive(Clone, Copy, Debug)]
pub struct TextRule {
    /// In characters, as it is sent.
    pub max: usize,
    /// Allows line breaks and tabs.
    pub lines: bool,
    /// Rejects invisible characters, because programs compare codes and people copy them from screens.
    pub code: bool,
}

/// Why a text is invalid; the message continues after the field's name.
#[derive(Debug, PartialEq, Eq)]
pub struct TextError {
    pub code: &'static str,
    pub message: String,
}

impl TextRule {
    pub const fn line(max: usize) -> Self {
        Self { max, lines: false, code: false }
    }

    pub const fn lines(max: usize) -> Self {
        Self { max, lines: true, code: false }
    }

    pub const fn code(max: usize) -> Self {
        Self { max, lines: false, code: true }
    }

    /// The trimmed text; `None` if nothing in it is visible.
    ///
    /// # Errors
    /// When it breaks the rule.
    pub fn check(self, text: &str) -> Result<Option<&str>, TextError> {
        // Before trimming, so that white space cannot exceed the limit.
        let is_too_long = text.chars().count() > self.max;
        let text = text.trim();
        if looks_empty(text) && !is_too_long {
            return Ok(None);
        }
        let error = |code, message: String| Err(TextError { code, message });
        let is_allowed = |c| self.lines && is_line_break_or_tab(c);
        if text.chars().any(|c| is_control(c) && !is_allowed(c)) {
            return error("invalid_format", "must not contain control characters.".into());
        }
        if self.code
            && let Some(c) = text.chars().find(|c| is_invisible(*c))
        {
            let message = format!("must not contain invisible characters, such as U+{:04X}.", u32::from(c));
            return error("invalid_format", message);
        }
        if is_too_long {
            return error("too_long", format!("must be at most {} characters long.", self.max));
        }
        Ok(Some(text))
    }
}

/// Replaces line breaks and tabs by spaces: pasted address lines often contain them.
pub fn one_line(text: String) -> String {
    if !text.contains(is_line_break_or_tab) {
        return text;
    }
    let parts = text.split(is_line_break_or_tab).map(str::trim).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" ")
}

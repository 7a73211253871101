//! Readable colors for mails: text on the operator's accent color, and the accent color on white (WCAG 2 AA).

const WHITE: &str = "#ffffff";
const BLACK: &str = "#000000";
/// The text color of mails.
const INK: &str = "#1c1f24";
/// The smallest contrast ratio that WCAG 2 AA allows for normal text.
const READABLE: f64 = 4.5;

/// White if that is readable on this background, black otherwise: one of the two always is.
pub(crate) fn text_on(background: &str) -> &'static str {
    if contrast(WHITE, background) >= READABLE { WHITE } else { BLACK }
}

/// The color itself if it is readable on white, dark text otherwise.
pub(crate) fn readable_on_white(color: &str) -> &str {
    if contrast(color, WHITE) >= READABLE { color } else { INK }
}

fn contrast(one: &str, other: &str) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// Relative luminance of `#rrggbb`. The settings are checked for this format.
fn luminance(color: &str) -> f64 {
    let part = |from: usize| {
        let value = color.get(from..from + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or(0);
        let value = f64::from(value) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_readable_on_any_accent_and_any_accent_on_white() {
        for red in (0..=255).step_by(15) {
            for green in (0..=255).step_by(15) {
                for blue in (0..=255).step_by(15) {
                    let accent = format!("#{red:02x}{green:02x}{blue:02x}");
                    assert!(contrast(text_on(&accent), &accent) >= READABLE, "{accent}");
                    assert!(contrast(readable_on_white(&accent), WHITE) >= READABLE, "{accent}");
                }
            }
        }
        assert_eq!((text_on("#1d4ed8"), text_on("#ffd500")), (WHITE, BLACK));
        assert_eq!((readable_on_white("#1d4ed8"), readable_on_white("#ffd500")), ("#1d4ed8", INK));
    }
}

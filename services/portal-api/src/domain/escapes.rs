//! Decodes the escapes of URLs, HTML, JSON and programs in free text, and keeps where each character comes from.

use std::ops::Range;

/// Programs escape texts that are escaped already: each pass decodes one layer.
const LAYERS_MAX: usize = 4;
/// The digits of a number in HTML, with zeros in front.
const DIGITS_MAX: usize = 10;
/// The characters of HTML that phones and e-mail addresses are written with.
const NAMED: [(&str, char); 31] = [
    ("commat", '@'),
    ("period", '.'),
    ("nbsp", '\u{a0}'),
    ("ensp", '\u{2002}'),
    ("emsp", '\u{2003}'),
    ("numsp", '\u{2007}'),
    ("puncsp", '\u{2008}'),
    ("thinsp", '\u{2009}'),
    ("hairsp", '\u{200a}'),
    ("ZeroWidthSpace", '\u{200b}'),
    ("minus", '\u{2212}'),
    ("Tab", '\t'),
    ("NewLine", '\n'),
    ("zwnj", '\u{200c}'),
    ("zwj", '\u{200d}'),
    ("shy", '\u{ad}'),
    ("hyphen", '\u{2010}'),
    ("dash", '\u{2010}'),
    ("ndash", '\u{2013}'),
    ("mdash", '\u{2014}'),
    ("lowbar", '_'),
    ("plus", '+'),
    ("lpar", '('),
    ("rpar", ')'),
    ("sol", '/'),
    ("bsol", '\\'),
    ("percnt", '%'),
    ("quot", '"'),
    ("lt", '<'),
    ("gt", '>'),
    ("amp", '&'),
];

/// A text whose escapes are decoded.
pub(super) struct Decoded {
    pub(super) text: String,
    /// Where the source of each byte's character begins, and at last the end of the source.
    starts: Vec<usize>,
}

impl Decoded {
    /// Nothing is decoded yet.
    fn plain(source: &str) -> Self {
        let mut starts = Vec::with_capacity(source.len() + 1);
        starts.extend(0..=source.len());
        Self { text: source.to_owned(), starts }
    }

    /// The place of a part of the text in the source.
    pub(super) fn source(&self, part: &Range<usize>) -> Range<usize> {
        self.starts[part.start]..self.starts[part.end]
    }

    /// Decodes one layer; `None` if there is no escape.
    fn decoded_once(&self) -> Option<Self> {
        let mut next = Self { text: String::with_capacity(self.text.len()), starts: Vec::new() };
        let mut at = 0;
        while let Some(char) = self.text[at..].chars().next() {
            let (char, length) = escape(&self.text[at..]).unwrap_or((char, char.len_utf8()));
            next.text.push(char);
            next.starts.resize(next.text.len(), self.starts[at]);
            at += length;
        }
        next.starts.push(self.starts[at]);
        (next.text != self.text).then_some(next)
    }
}

/// The text as it is, and after each layer of escapes.
pub(super) fn layers(source: &str) -> Vec<Decoded> {
    let mut layers = vec![Decoded::plain(source)];
    while let Some(next) =
        layers.last().filter(|_| layers.len() <= LAYERS_MAX).and_then(Decoded::decoded_once)
    {
        layers.push(next);
    }
    layers
}

/// The character of the escape at the start, and the length of the escape.
fn escape(text: &str) -> Option<(char, usize)> {
    match text.as_bytes().first()? {
        b'%' => percent(text),
        b'&' => html(text),
        b'\\' => backslash(text),
        _ => None,
    }
}

/// `%40`, several for the bytes of a character in UTF-8, or `%u0040`.
fn percent(text: &str) -> Option<(char, usize)> {
    if let Some(rest) = text.strip_prefix("%u").or_else(|| text.strip_prefix("%U")) {
        return Some((character(rest, 4)?, 6));
    }
    let mut bytes = Vec::new();
    while bytes.len() < 4
        && let Some(byte) = text.get(3 * bytes.len()..).and_then(|rest| rest.strip_prefix('%')).and_then(byte)
    {
        bytes.push(byte);
        if let Some(char) = std::str::from_utf8(&bytes).ok().and_then(|text| text.chars().next()) {
            return Some((char, 3 * bytes.len()));
        }
    }
    // No UTF-8: the older encoding of browsers.
    bytes.first().map(|byte| (char::from(*byte), 3))
}

/// `&#64;`, `&#x40;` or `&commat;`. Browsers also accept them without the semicolon.
fn html(text: &str) -> Option<(char, usize)> {
    let (char, length) = match text.strip_prefix("&#") {
        Some(number) => {
            let (radix, digits) = match number.strip_prefix(['x', 'X']) {
                Some(digits) => (16, digits),
                None => (10, number),
            };
            let count = digits.chars().take_while(|char| char.is_digit(radix)).count();
            let value = u32::from_str_radix(digits.get(..count).filter(|_| count <= DIGITS_MAX)?, radix);
            (char::from_u32(value.ok()?)?, text.len() - digits.len() + count)
        }
        None => {
            let name = text.strip_prefix('&')?;
            let (known, char) = NAMED.iter().find(|(known, _)| name.starts_with(known))?;
            (*char, 1 + known.len())
        }
    };
    Some((char, length + usize::from(text[length..].starts_with(';'))))
}

/// `\u0040`, `\u{40}`, `\U00000040`, `\x40`, `\t`, or a punctuation mark.
fn backslash(text: &str) -> Option<(char, usize)> {
    let rest = text.strip_prefix('\\')?;
    let char = rest.chars().next()?;
    let after = &rest[char.len_utf8()..];
    match char {
        'u' | 'x' if after.starts_with('{') => {
            let digits = after.get(1..)?.split('}').next()?;
            Some((character(digits, digits.len())?, 4 + digits.len())).filter(|(_, end)| *end <= text.len())
        }
        'u' => Some((character(after, 4)?, 6)),
        'U' => Some((character(after, 8)?, 10)),
        'x' => Some((character(after, 2)?, 4)),
        't' => Some(('\t', 2)),
        'n' => Some(('\n', 2)),
        'r' => Some(('\r', 2)),
        mark if mark.is_ascii_punctuation() => Some((mark, 2)),
        _ => None,
    }
}

/// The character whose number is written with so many hexadecimal digits.
fn character(digits: &str, count: usize) -> Option<char> {
    let digits = digits.get(..count).filter(|digits| digits.chars().all(|char| char.is_ascii_hexdigit()))?;
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}

fn byte(text: &str) -> Option<u8> {
    u8::try_from(u32::from(character(text, 2)?)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(source: &str) -> String {
        layers(source).pop().unwrap().text
    }

    #[test]
    fn escapes_of_urls_html_and_programs_are_decoded() {
        for (source, expected) in [
            ("a%40b %u0040 %E2%80%91 %C2%A0 %A0", "a@b @ \u{2011} \u{a0} \u{a0}"),
            ("&#64; &#x40; &#X0040; &#0064 &commat; &nbsp;", "@ @ @ @ @ \u{a0}"),
            (r"\u0040 \u{40} \U00000040 \x40 \x{40} \@ \t", "@ @ @ @ @ @ \t"),
            ("%2540 %252540 &amp;#64; \\\\u0040 &#37;40", "@ @ @ @ @"),
            (
                "100% %4 %zz &# &#; &unknown; &#99999999999; \\",
                "100% %4 %zz &# &#; &unknown; &#99999999999; \\",
            ),
            ("\\ud83d \\u{} \\u{110000} \\u{40 %é4 \\é", "\\ud83d \\u{} \\u{110000} \\u{40 %é4 \\é"),
            ("", ""),
        ] {
            assert_eq!(decoded(source), expected, "{source}");
        }
    }

    #[test]
    fn each_part_knows_its_source() {
        let source = "é%C3%A9&#64;x";
        let last = layers(source).pop().unwrap();
        assert_eq!(last.text, "éé@x");
        let parts = [(0..2, "é"), (2..4, "%C3%A9"), (4..5, "&#64;"), (2..6, "%C3%A9&#64;x"), (6..6, "")];
        for (part, expected) in parts {
            assert_eq!(&source[last.source(&part)], expected, "{part:?}");
        }
    }

    #[test]
    fn layers_end() {
        let deep = format!("%{}40", "25".repeat(50));
        assert_eq!(layers(&deep).len(), LAYERS_MAX + 1);
        assert_eq!(layers("plain").len(), 1);
    }
}

//! Detects names that mail programs would turn into links.

/// Top-level domains that mail programs link without `http://`; they also link all two-letter ones.
const ENDINGS: [&str; 27] = [
    "app", "bank", "biz", "click", "cloud", "club", "com", "dev", "example", "info", "life", "link", "live",
    "mobi", "net", "online", "org", "page", "pay", "pro", "shop", "site", "store", "top", "vip", "world",
    "xyz",
];

pub(crate) fn has_web_address(text: &str) -> bool {
    let text = as_shown(text);
    let is_written_out = ["http:", "https:", "://", "www."].iter().any(|sign| text.contains(sign));
    is_written_out || words(&text).any(is_host)
}

/// Removes invisible characters, and replaces all kinds of dots by `.`.
fn as_shown(text: &str) -> String {
    let lower = text.to_lowercase();
    let seen = lower
        .chars()
        .filter(|c| !matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}'));
    seen.map(|c| if matches!(c, '\u{2024}' | '\u{3002}' | '\u{ff0e}' | '\u{ff61}') { '.' } else { c })
        .collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '/' | '@')))
}

/// True for `shop.example`, `pay.shop/now` and `1.2.3.4/x`; false for initials as in `M.S.Traders`.
fn is_host(word: &str) -> bool {
    let (host, path) = word.split_once('/').map_or((word, None), |(host, path)| (host, Some(path)));
    let labels: Vec<&str> = host.trim_matches('.').split('.').collect();
    let Some((last, others)) = labels.split_last() else { return false };
    let dotted = !others.is_empty() && others.iter().all(|label| !label.is_empty());
    let is_initial = |label: &&str| label.chars().count() == 1 && label.chars().all(char::is_alphabetic);
    let initials = others.len() > 1 && others.iter().all(is_initial);
    let is_country = last.chars().count() == 2 && last.chars().all(char::is_alphabetic) && *last != "js";
    let is_number = labels.len() == 4 && labels.iter().all(|label| label.parse::<u8>().is_ok());
    let is_ending = is_country || is_number || last.starts_with("xn--") || ENDINGS.contains(last);
    dotted && (path.is_some_and(|path| !path.is_empty()) || (is_ending && !initials))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_addresses_are_distinguished_from_names() {
        for link in [
            "Your parcel is held: pay Rs 49 at http://evil.example",
            "HTTPS://EVIL.ORG",
            "pay at www.evil.museum",
            "Evil.com parcels",
            "(evil.co.in)",
            "evil\u{3002}com",
            "pay: evil.museum/now",
            "10.0.0.1/pay",
            "me@evil.com",
            "parcel-held.ru",
            "x.com",
            "\u{43f}\u{440}\u{438}\u{43c}\u{435}\u{440}.\u{440}\u{444}",
            "evil.xn--p1ai",
            "evil\u{200b}.com",
            "Pay evil\u{ad}.com",
            "evil\u{2024}com",
            "1.2.3.4",
            "http:1.2.3.4",
            "Shop https:/evil",
        ] {
            assert!(has_web_address(link), "{link}");
        }
        for name in [
            "Corner Shop",
            "M.S.Traders",
            "B.K.Store",
            "St. Mary's Bakery",
            "Dr.Kumar & Sons",
            "A/B Foods",
            "24/7 Store",
            "C.O.D.",
            "Node.js Works",
        ] {
            assert!(!has_web_address(name), "{name}");
        }
    }
}

//! Names that would be links in a mail: programs make one of whatever looks like a web address.

/// Endings that are made links without `http://` in front; all of two letters are, too.
const ENDINGS: [&str; 27] = [
    "app", "bank", "biz", "click", "cloud", "club", "com", "dev", "example", "info", "life", "link", "live",
    "mobi", "net", "online", "org", "page", "pay", "pro", "shop", "site", "store", "top", "vip", "world",
    "xyz",
];

pub(crate) fn has_web_address(text: &str) -> bool {
    let text: String = text
        .to_lowercase()
        .chars()
        .map(|c| if matches!(c, '\u{3002}' | '\u{ff0e}' | '\u{ff61}') { '.' } else { c })
        .collect();
    text.contains("://") || text.contains("www.") || words(&text).any(is_host)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '/' | '@')))
}

/// `shop.example`, `pay.shop/now` or `1.2.3.4/x`; initials as in `M.S.Traders` are none.
fn is_host(word: &str) -> bool {
    let (host, path) = word.split_once('/').map_or((word, None), |(host, path)| (host, Some(path)));
    let labels: Vec<&str> = host.trim_matches('.').split('.').collect();
    let Some((last, others)) = labels.split_last() else { return false };
    let dotted = !others.is_empty() && others.iter().all(|label| !label.is_empty());
    let initials = others.len() > 1 && others.iter().all(|label| label.chars().count() == 1);
    let is_country = last.len() == 2 && last.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_ending = is_country || ENDINGS.contains(last);
    dotted && (path.is_some_and(|path| !path.is_empty()) || (is_ending && !initials))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_addresses_are_told_from_names() {
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
        ] {
            assert!(!has_web_address(name), "{name}");
        }
    }
}

//! The words by which the search finds an order, and the query of a search text.
//!
//! A mark in front of each word says what it is of. The order: `.` the reference and the PIN code, `<` the reference
//! backwards, so that its end finds it. The customer, erased with the personal data: `*` name and city, `+` the phone, `-`
//! the phone backwards. Roles that see only masked phones find nothing by `+` and `-`.

use domain::{OrderId, TrackingCode};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::Order;

/// Of a name, a city and a reference each.
const WORDS_MAX: usize = 16;
const WORD_CHARS_MAX: usize = 128;
/// Of a search text. Further ones are ignored.
const TERMS_MAX: usize = 8;
/// The national part of a phone number.
const PHONE_DIGITS: usize = 10;
/// Shorter terms are no part of a phone.
const PHONE_TERM_MIN: usize = 4;
/// The shortest end of a reference.
const END_MIN: usize = 3;
/// A PIN code is often written in two groups of digits: `682 016`.
const PINCODE_GROUP: usize = 3;
/// A text of digits and separators with this many digits is one number, however it is grouped.
const NUMBER_DIGITS_MIN: usize = 7;

/// The texts of an order that the search finds.
#[derive(Clone, Debug, Default)]
pub struct Searchable {
    pub order_reference: String,
    pub name: Option<String>,
    pub phone: Option<String>,
    pub city: Option<String>,
    pub pincode: Option<String>,
}

impl Searchable {
    pub fn of(order: &Order) -> Self {
        let text = |part: &str, field: &str| order.details[part][field].as_str().map(str::to_owned);
        Self {
            order_reference: order.order_reference.clone(),
            name: text("customer", "name"),
            phone: text("customer", "phone"),
            city: text("delivery", "city"),
            pincode: text("delivery", "pincode"),
        }
    }

    /// The marked words, separated by spaces.
    pub fn words(&self) -> String {
        let reference = fold(&self.order_reference);
        let whole = joined(&reference);
        let mut words = vec![format!("<{}", backwards(&whole)), format!(".{whole}")];
        words.extend(runs(&reference).into_iter().map(|run| format!(".{run}")));
        let pincode = self.pincode.as_deref().filter(|text| text.len() == 6 && is_number(text));
        words.extend(pincode.map(|pincode| format!(".{pincode}")));
        for text in [&self.name, &self.city].into_iter().flatten() {
            words.extend(customer_words(text));
        }
        if let Some(phone) = self.phone.as_deref().map(|phone| national(&digits(phone))) {
            words.extend([format!("+{phone}"), format!("-{}", backwards(&phone))]);
        }
        // A text without letters and digits leaves only the mark.
        words.retain(|word| word.len() > 1);
        words.sort_unstable();
        words.dedup();
        words.join(" ")
    }
}

/// Part of a name may be a phone or an e-mail address, which some roles see masked.
fn customer_words(text: &str) -> Vec<String> {
    let marked = |part: &str| {
        let part = fold(part);
        let mark = if part.contains(|c: char| c.is_numeric() || c == '@') { '+' } else { '*' };
        let mut words = split(&part);
        if part.contains(is_apostrophe) {
            words.extend(split(&part.replace(is_apostrophe, "")));
        }
        words.into_iter().map(move |word| format!("{mark}{word}")).collect::<Vec<_>>()
    };
    text.split_whitespace().flat_map(marked).take(WORDS_MAX).collect()
}

/// Whether the city of the delivery begins so. A case or an accent makes no difference.
pub fn is_to_city(order: &Order, city: &str) -> bool {
    order.details["delivery"]["city"].as_str().is_some_and(|own| fold(own).starts_with(&fold(city)))
}

/// The query of a search text for the orders of one business, as PostgreSQL reads it: `~` stands for the beginning of the
/// business's words. Each term must begin a word, or end a reference or a phone. `None` for a text without letters and
/// digits.
pub fn search_query(text: &str, sees_phones: bool) -> Option<String> {
    let terms: Vec<_> =
        terms(text).iter().take(TERMS_MAX).filter_map(|term| of_term(term, sees_phones)).collect();
    (!terms.is_empty()).then(|| terms.join(" & "))
}

/// The order with exactly this id. Its case makes no difference.
pub fn searched_id(text: &str) -> Option<OrderId> {
    let (prefix, ulid) = text.trim().split_at_checked(OrderId::PREFIX.len())?;
    format!("{}{}", prefix.to_ascii_lowercase(), ulid.to_ascii_uppercase()).parse().ok()
}

/// Whether the text is the order's id or tracking code, so that no other order is searched for.
pub fn is_code_of(text: &str, order: &Order) -> bool {
    searched_id(text) == Some(order.id)
        || TrackingCode::from_user_input(text).is_ok_and(|code| code == order.tracking_code)
}

fn terms(text: &str) -> Vec<String> {
    let text = fold(text);
    let is_one_number = text.chars().all(|c| c.is_ascii_digit() || " +-.()/".contains(c))
        && digits(&text).len() >= NUMBER_DIGITS_MIN;
    if is_one_number { vec![text] } else { with_whole_pincodes(&text) }
}

/// The terms of a text. Two groups of a PIN code are one term, which finds them as separate numbers too.
fn with_whole_pincodes(text: &str) -> Vec<String> {
    let is_group = |term: &str| term.len() == PINCODE_GROUP && is_number(term);
    let mut terms: Vec<String> = Vec::new();
    for term in text.split_whitespace() {
        match terms.last_mut() {
            Some(first) if is_group(first.as_str()) && is_group(term) => {
                first.push(' ');
                first.push_str(term);
            }
            _ => terms.push(term.to_owned()),
        }
    }
    terms
}

fn of_term(term: &str, sees_phones: bool) -> Option<String> {
    let whole = joined(term);
    if whole.is_empty() {
        return None;
    }
    let mut ways = vec![begins('.', &whole), all_of('*', &split(term))];
    let runs = runs(term);
    if runs.len() > 1 {
        ways.push(all_of('.', &runs));
    }
    if whole.chars().count() >= END_MIN {
        ways.push(begins('<', &backwards(&whole)));
    }
    if sees_phones {
        ways.push(all_of('+', &split(term)));
        if is_number(&whole) && whole.len() >= PHONE_TERM_MIN {
            let national_part =
                term.trim_start().starts_with('+').then(|| whole.strip_prefix("91")).flatten();
            let number = national(national_part.unwrap_or(&whole));
            ways.extend([begins('+', &number), begins('-', &backwards(&number))]);
        }
    }
    Some(format!("({})", ways.join(" | ")))
}

/// Words have neither quotes nor backslashes.
fn begins(mark: char, word: &str) -> String {
    format!("'~{mark}{word}':*")
}

fn all_of(mark: char, words: &[String]) -> String {
    let words: Vec<_> = words.iter().map(|word| begins(mark, word)).collect();
    format!("({})", words.join(" & "))
}

/// Compatible forms and cases of a letter are the same, and so are letters with and without an accent.
fn fold(text: &str) -> String {
    let letters = text.nfkd().filter(|c| !is_accent(*c));
    letters.nfc().flat_map(char::to_lowercase).collect()
}

/// Of Latin, Greek and Cyrillic letters. The marks of India's scripts are vowels.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '`' | '\u{2018}' | '\u{2019}' | '\u{2bc}')
}

/// Letters of India's scripts contain combining marks.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

fn split(folded: &str) -> Vec<String> {
    let words = folded.split(|c| !is_of_word(c)).filter(|word| !word.is_empty());
    words.take(WORDS_MAX).map(|word| word.chars().take(WORD_CHARS_MAX).collect()).collect()
}

/// The words, split between letters and digits too: `ORD1001` is found by `1001`.
fn runs(folded: &str) -> Vec<String> {
    let mut runs = Vec::new();
    for word in split(folded) {
        let mut last = None;
        for c in word.chars() {
            let kind = c.is_numeric();
            if last != Some(kind) {
                runs.push(String::new());
            }
            last = Some(kind);
            runs.last_mut().into_iter().for_each(|run: &mut String| run.push(c));
        }
    }
    runs.truncate(WORDS_MAX);
    runs
}

fn joined(folded: &str) -> String {
    folded.chars().filter(|c| is_of_word(*c)).take(WORD_CHARS_MAX).collect()
}

fn backwards(word: &str) -> String {
    word.chars().rev().collect()
}

fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The last digits, without the country code or a zero in front.
fn national(digits: &str) -> String {
    digits[digits.len().saturating_sub(PHONE_DIGITS)..].to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn order() -> Searchable {
        Searchable {
            order_reference: "MC-2026/1001A".into(),
            name: Some("Asha D'Souza".into()),
            phone: Some("+919876543210".into()),
            city: Some("Navi Mumbai".into()),
            pincode: Some("400701".into()),
        }
    }

    /// What PostgreSQL decides, for queries of this module.
    fn finds(text: &str, order: &Searchable, sees_phones: bool) -> bool {
        let words = order.words();
        let words: Vec<&str> = words.split(' ').collect();
        let has = |begin: &str| {
            let begin = begin.trim_matches(['(', ')', ' ']).trim_start_matches("'~").trim_end_matches("':*");
            words.iter().any(|word| word.starts_with(begin))
        };
        let has_way = |way: &str| way.split(" & ").all(has);
        terms(text)
            .iter()
            .filter_map(|term| of_term(term, sees_phones))
            .all(|term| term.split(" | ").any(has_way))
    }

    #[test]
    fn an_order_is_found_by_what_people_remember_of_it() {
        for text in [
            "asha",
            "ASHA",
            "ash",
            "souza",
            "d'souza",
            "D’Souza",
            "dsouza",
            "DSou",
            "Asha Souza",
            "400 701",
            "mumbai 400 701",
            "asha mumbai",
            "navi",
            "400701",
            "4007",
            "MC-2026/1001A",
            "mc20261001a",
            "mc-2026",
            "1001",
            "1001a",
            "2026",
            "#1001",
            "asha 400701 1001",
            "  asha  ",
            "ＡＳＨＡ",
        ] {
            assert!(finds(text, &order(), false), "{text}");
        }
        for text in
            ["rao", "sha", "asha rao", "400702", "1002", "MC-2025", "7654", "mumbai 560001", "400 702"]
        {
            assert!(!finds(text, &order(), true), "{text}");
        }
    }

    #[test]
    fn an_id_is_found_in_either_case() {
        let id = "ord_01ARZ3NDEKTSV4RRFFQ69G5FAV";
        for text in [id, " ord_01arz3ndektsv4rrffq69g5fav ", "ORD_01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
            assert_eq!(searched_id(text), id.parse::<OrderId>().ok(), "{text}");
        }
        assert_eq!(searched_id("ord"), None);
    }

    #[test]
    fn accents_and_apostrophes_do_not_matter() {
        for (name, texts) in [
            ("José Álvares", &["jose", "José", "JOSE\u{301}", "alvares"][..]),
            ("Siobhan O’Brien", &["siobhán", "OBrien", "o'brien", "O`Brien", "brien"][..]),
            ("İrem Šćepan", &["irem", "scepan"][..]),
            ("कृष्णा", &["कृष्णा"][..]),
        ] {
            let named = Searchable { name: Some(name.into()), ..order() };
            for text in texts {
                assert!(finds(text, &named, false), "{name}: {text}");
            }
        }
        let named = Searchable { name: Some("कृष्णा".into()), ..order() };
        assert!(!finds("कषण", &named, false), "vowels are no accents");
        // Two groups of digits also find two numbers.
        let numbered = Searchable { order_reference: "400-X-701".into(), pincode: None, ..order() };
        assert!(finds("400 701", &numbered, false));
    }

    #[test]
    fn a_phone_is_found_by_its_first_and_last_digits_in_any_spelling() {
        for text in [
            "9876543210",
            "+919876543210",
            "+91 98765 43210",
            "098765-43210",
            "(+91) 98765.43210",
            "98765",
            "43210",
            "3210",
            "98765 43210",
            "+9198765",
        ] {
            assert!(finds(text, &order(), true), "{text}");
            assert!(!finds(text, &order(), false), "a role that does not see phones: {text}");
        }
        assert!(!finds("210", &order(), true), "too short for a phone");
    }

    #[test]
    fn phones_and_addresses_within_a_name_are_for_roles_that_see_phones() {
        let named = Searchable { name: Some("Asha 9876500000 asha\u{ff20}home.example".into()), ..order() };
        assert!(finds("9876500000", &named, true) && finds("home", &named, true));
        assert!(!finds("9876500000", &named, false) && !finds("home", &named, false));
        assert!(finds("asha", &named, false));
    }

    #[test]
    fn erased_orders_and_odd_texts_have_the_words_that_are_left() {
        let erased = Searchable {
            order_reference: "#7".into(),
            pincode: Some("560001".into()),
            ..Searchable::default()
        };
        assert_eq!(erased.words(), ".560001 .7 <7");
        let odd = Searchable {
            pincode: Some("ask Joseph".into()),
            order_reference: "///".into(),
            ..Searchable::default()
        };
        assert_eq!(odd.words(), "");
        assert_eq!(search_query(" -/# ", true), None);
        assert_eq!(search_query("कृष्णा", false).unwrap(), "('~.कृष्णा':* | ('~*कृष्णा':*) | '~<ाण्षृक':*)");
    }

    #[test]
    fn the_words_of_the_longest_texts_are_bounded() {
        let long = "\u{fdfa} a1".repeat(200);
        let order = Searchable {
            order_reference: long.clone(),
            name: Some(long.clone()),
            city: Some(long),
            ..order()
        };
        let words = order.words();
        assert!(words.split(' ').count() < 64 && words.split(' ').all(|word| word.len() < 1_000), "{words}");
    }

    proptest! {
        /// A query never contains what PostgreSQL could read as another operator.
        #[test]
        fn any_text_is_a_valid_query(text in any::<String>()) {
            if let Some(query) = search_query(&text, true) {
                for word in query.split('\'').skip(1).step_by(2) {
                    prop_assert!(word.starts_with('~') && word.chars().skip(2).all(is_of_word), "{}", query);
                }
            }
        }
    }
}

//! E-mail addresses of accounts and customers.

use std::fmt;

/// A syntactically valid address. Only a message to it can show whether it exists.
#[derive(Clone, PartialEq, Eq)]
pub struct Email(String);

impl Email {
    /// RFC 5321 §4.5.3.1: 64 octets before the `@`, 254 in all.
    pub const MAX: usize = 254;
    const LOCAL_MAX: usize = 64;

    /// The trimmed address; `None` when the syntax is invalid.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (local, host) = text.rsplit_once('@')?;
        let local_fits = (1..=Self::LOCAL_MAX).contains(&local.len())
            && !local.contains(|c: char| c == '@' || c.is_whitespace() || c.is_control());
        let labels: Vec<&str> = host.split('.').collect();
        let host_fits = labels.len() >= 2 && labels.iter().all(|label| is_label(label));
        (text.len() <= Self::MAX && local_fits && host_fits).then(|| Self(text.to_owned()))
    }

    /// The address in its original case.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part behind the `@`.
    pub fn host(&self) -> &str {
        self.0.rsplit_once('@').map_or("", |(_, host)| host)
    }

    /// The lower-case form, which identifies an account: addresses that differ only in case count as equal.
    pub fn key(&self) -> String {
        self.0.to_lowercase()
    }
}

impl fmt::Debug for Email {
    /// Hides the address from logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Email(..)")
    }
}

fn is_label(label: &str) -> bool {
    !label.is_empty()
        && label.chars().all(|c| c.is_alphanumeric() || c == '-')
        && !label.starts_with('-')
        && !label.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_valid_addresses_are_accepted() {
        for good in ["a@b.co", " Owner@Shop.example ", "o'neil+x@a-b.c-d.in", "विक्रम@दुकान.भारत"]
        {
            assert!(Email::parse(good).is_some(), "{good}");
        }
        let long = format!("{}@b.co", "a".repeat(65));
        for bad in
            ["", "@", "a@", "@b.co", "a@b", "a b@c.co", "a@b..co", "a@-b.co", "a@b.co@", "a@b_.co", &long]
        {
            assert!(Email::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn addresses_that_differ_in_case_have_the_same_key() {
        let typed = Email::parse("Owner@Shop.Example").unwrap();
        assert_eq!(typed.as_str(), "Owner@Shop.Example");
        assert_eq!(typed.key(), Email::parse("owner@shop.example").unwrap().key());
    }
}

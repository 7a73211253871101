//! The syntax of the URL of a stranger (SPECIFICATION §2.6). [`crate::Policy`] decides on its target.

use url::{Host, Url};

/// Of the percent-encoded URL.
const LENGTH_MAX: usize = 2_048;
/// Of a host name and of its labels (RFC 1035 §2.3.4).
const NAME_MAX: usize = 253;
const LABEL_MAX: usize = 63;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlError {
    NotAbsolute,
    UserInfo,
    Fragment,
    Port,
    HostName,
    TooLong,
}

impl UrlError {
    /// For people. Names the field of the URL.
    pub fn message(self, field: &str) -> String {
        match self {
            Self::NotAbsolute => {
                format!("{field} must be an absolute http or https URL, such as https://shop.example/path.")
            }
            Self::UserInfo => format!("{field} must not contain a user name or password."),
            Self::Fragment => format!("{field} must not contain a fragment (#…); it is never sent."),
            Self::Port => format!("{field} must not use port 0; nothing can be reached there."),
            Self::HostName => format!(
                "the host in {field} is not a valid host name: use labels of 1 to 63 characters that neither begin nor \
                 end with a hyphen, 253 characters in all."
            ),
            Self::TooLong => {
                format!("{field} must have at most {LENGTH_MAX} characters when percent-encoded.")
            }
        }
    }
}

/// Parses a URL that an owner typed.
///
/// # Errors
/// When the URL is unusable or ambiguous.
pub fn parse_url(text: &str) -> Result<Url, UrlError> {
    let lower = text.to_ascii_lowercase();
    // The parser also accepts `http:host`, `http:/host` and `http:\\host`, which are typing errors.
    if !lower.starts_with("https://") && !lower.starts_with("http://") {
        return Err(UrlError::NotAbsolute);
    }
    let url = Url::parse(text).map_err(|_| UrlError::NotAbsolute)?;
    if url.host_str().is_none_or(str::is_empty) {
        return Err(UrlError::NotAbsolute);
    }
    if !url.username().is_empty() || url.password().is_some() || has_user_info(text) {
        return Err(UrlError::UserInfo);
    }
    if url.fragment().is_some() {
        return Err(UrlError::Fragment);
    }
    if url.port() == Some(0) {
        return Err(UrlError::Port);
    }
    if matches!(url.host(), Some(Host::Domain(name)) if !is_host_name(name)) {
        return Err(UrlError::HostName);
    }
    if url.as_str().len() > LENGTH_MAX {
        return Err(UrlError::TooLong);
    }
    Ok(url)
}

/// Also detects an empty user name (`http://@host/`), which the parser drops.
fn has_user_info(text: &str) -> bool {
    let rest = text.split_once("://").map_or("", |(_, rest)| rest).trim_start_matches(['/', '\\']);
    rest.split(['/', '\\', '?', '#']).next().is_some_and(|authority| authority.contains('@'))
}

/// The name is ASCII here. A trailing dot is allowed.
fn is_host_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_label = |label: &str| {
        (1..=LABEL_MAX).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
    };
    name.len() <= NAME_MAX && name.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;

    #[test]
    fn usual_urls_are_accepted() {
        for text in [
            "https://shop.example/api/waybill/webhook",
            "http://shop.example:8080/?a=b&c=d",
            "HTTPS://Shop.Example",
            "https://दुकान.example/hook",
            "https://1.1.1.1/hook",
            "https://[2606:4700::1111]:8443/hook",
            "https://shop.example./hook",
            "https://my_shop.a--b.example/@me?to=a@b",
        ] {
            assert!(parse_url(text).is_ok(), "{text}");
        }
        let label = "a".repeat(63);
        let name = format!("{label}.{label}.{label}.{}", "a".repeat(61));
        assert!(parse_url(&format!("https://{name}./")).is_ok(), "63 and 253 characters");
        assert!(parse_url(&format!("https://a.example/{}", "a".repeat(2_030))).is_ok(), "2,048 characters");
    }

    #[test]
    fn long_urls_are_refused() {
        let label = "a".repeat(63);
        let name = format!("{label}.{label}.{label}.{}", "a".repeat(62));
        for (text, error) in [
            (format!("https://{label}a.example/"), UrlError::HostName),
            (format!("https://{name}/"), UrlError::HostName),
            (format!("https://{}.example/", "दु".repeat(60)), UrlError::HostName),
            (format!("https://a.example/{}", "a".repeat(2_031)), UrlError::TooLong),
            (format!("https://a.example/{}", "क".repeat(300)), UrlError::TooLong),
            (format!("https://a.example/?{}", " a".repeat(600)), UrlError::TooLong),
        ] {
            assert_eq!(parse_url(&text), Err(error), "{text}");
        }
    }

    #[test]
    fn other_urls_are_refused_with_a_reason() {
        for (text, error) in [
            ("", UrlError::NotAbsolute),
            ("shop.example", UrlError::NotAbsolute),
            ("//shop.example/", UrlError::NotAbsolute),
            ("/webhook", UrlError::NotAbsolute),
            ("ftp://shop.example/", UrlError::NotAbsolute),
            ("file:///etc/passwd", UrlError::NotAbsolute),
            ("javascript:alert(1)", UrlError::NotAbsolute),
            ("http:shop.example", UrlError::NotAbsolute),
            ("http:\\\\shop.example", UrlError::NotAbsolute),
            ("https://", UrlError::NotAbsolute),
            ("https://shop.example:99999/", UrlError::NotAbsolute),
            ("https://exa mple.com/", UrlError::NotAbsolute),
            ("https://user@shop.example/", UrlError::UserInfo),
            ("https://user:word@shop.example/", UrlError::UserInfo),
            ("https://:word@shop.example/", UrlError::UserInfo),
            ("https://@shop.example/", UrlError::UserInfo),
            ("https://:@shop.example/", UrlError::UserInfo),
            ("https:///@shop.example/", UrlError::UserInfo),
            ("https://shop.example:0/", UrlError::Port),
            ("https://./", UrlError::HostName),
            ("https://../", UrlError::HostName),
            ("https://a..com/", UrlError::HostName),
            ("https://.a.com/", UrlError::HostName),
            ("https://a.com../", UrlError::HostName),
            ("https://-a.com/", UrlError::HostName),
            ("https://a-.com/", UrlError::HostName),
            ("https://a.-b.com/", UrlError::HostName),
            ("https://shop.example/#part", UrlError::Fragment),
            ("https://shop.example/#", UrlError::Fragment),
        ] {
            assert_eq!(parse_url(text), Err(error), "{text}");
        }
    }

    const HOSTILE: &[&str] = &[
        "http://127.0.0.1/",
        "http://127.0.0.1:22/",
        "http://127.1/",
        "http://127.0.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.0x0.0x0.0x1/",
        "http://0x7f.1/",
        "http://017700000001/",
        "http://0177.0.0.1/",
        "http://0177.0.0.01/",
        "http://127.0.0.1./",
        "http://%31%32%37.0.0.1/",
        "http://１２７.0.0.1/",
        "http://①②⑦.⓪.⓪.①/",
        "http://127。0。0。1/",
        "http://localhost/",
        "http://LocalHost.:80/",
        "http://a.localhost/",
        "http://0/",
        "http://0.0.0.0/",
        "http://00000000/",
        "http://[::]/",
        "http://[::1]/",
        "http://[0:0:0:0:0:0:0:1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[::127.0.0.1]/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://0251.0376.0251.0376/",
        "http://169.254.43518/",
        "http://[fd00:ec2::254]/",
        "http://100.100.100.200/",
        "http://168.63.129.16/",
        "http://10.0.0.1/",
        "http://167772161/",
        "http://192.168.0.1/",
        "http://3232235521/",
        "http://172.16.0.1/",
        "http://100.64.0.1/",
        "http://198.18.0.1/",
        "http://192.0.2.1/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
        "http://4294967295/",
        "http://[fe80::1]/",
        "http://[fc00::1]/",
        "http://[fec0::1]/",
        "http://[ff02::1]/",
        "http://[64:ff9b::127.0.0.1]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[2002:7f00:1::]/",
        "http://[2001:0:7f00:1::1]/",
        "http://[2001:db8::1]/",
        "https://127.0.0.1/",
        "https://[::1]:8443/x",
        "http:\\127.0.0.1/",
        "http://127.0.0.1\\@shop.example/",
        "http://shop.example@127.0.0.1/",
        "http://[fe80::1%25eth0]/",
        "http://0xffffffff1/",
        "http://1.2.3.4.5/",
        "http://0x7F.0x0.0x0.0x1/",
        "http://00000177.0.0.1/",
        "http://127%2e0%2e0%2e1/",
        "http://127．0．0．1/",
        "http://127｡0｡0｡1/",
        "http://LOCALHOST./",
        "http://a.b.localhost/",
        "http://ｌｏｃａｌｈｏｓｔ/",
        "http://loc%61lhost/",
        "http://[0:0:0:0:0:ffff:7f00:0001]/",
        "http://[::7f00:1]/",
        "http://[::ffff:0:127.0.0.1]/",
        "http://[64:ff9b:1::7f00:1]/",
        "http://[64:ff9b:1:ffff::10.0.0.1]/",
        "http://[2002:7f00:1::1]/",
        "http://[fe80::5efe:127.0.0.1]/",
        "http://[::1%25lo]/",
        "http://shop.example:80@127.0.0.1/",
        "http://127.0.0.1#@shop.example/",
        "http://127.0.0.1?@shop.example/",
        "http:\\\\127.0.0.1/",
        "http:///127.0.0.1/",
        "http:127.0.0.1/",
        "http://127.0.0.1\t/",
        "http://127.0.0.1%00.shop.example/",
        "http://shop.example%0d%0a.127.0.0.1/",
        "http://127.0.0.256/",
        "http://127.0.0.1:65536/",
        "gopher://127.0.0.1/_",
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
        "dict://127.0.0.1/",
        "unix:/var/run/docker.sock",
    ];

    /// Every spelling of a private address is refused without a DNS lookup.
    #[test]
    fn hostile_urls_are_refused() {
        let policy = Policy { allow_http: true, ..Policy::default() };
        for text in HOSTILE {
            let outcome = parse_url(text).ok().map(|url| policy.vet_url(&url));
            assert!(!matches!(outcome, Some(Ok(()))), "{text} leads to {:?}", parse_url(text));
        }
    }

    #[test]
    fn plain_http_needs_the_operator_s_permission() {
        let url = parse_url("http://shop.example/").unwrap();
        assert!(Policy::default().vet_url(&url).is_err());
        assert!(Policy { allow_http: true, ..Policy::default() }.vet_url(&url).is_ok());
        assert!(Policy::default().vet_url(&parse_url("https://shop.example/").unwrap()).is_ok());
    }
}

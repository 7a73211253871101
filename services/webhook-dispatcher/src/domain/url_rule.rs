//! What an endpoint's URL may look like (`design.md` §5, “endpoint input”). Where it may lead is [`super::Policy`]'s
//! matter.

use url::Url;

/// What is wrong with a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UrlFault {
    #[error("url must be an absolute http or https URL, such as https://shop.example/webhooks.")]
    NotAbsolute,
    #[error("url must not contain a user name or password; webhooks are signed instead.")]
    UserInfo,
    #[error("url must not contain a fragment (#…); it is never sent.")]
    Fragment,
}

/// Reads a URL that was typed by an owner.
///
/// # Errors
/// When no webhook could be sent there, or not as the owner means it.
pub(crate) fn parse_url(text: &str) -> Result<Url, UrlFault> {
    let lower = text.to_ascii_lowercase();
    // The parser forgives much: `http:host`, `http:/host` and `http:\\host` are none of them what somebody meant.
    if !lower.starts_with("https://") && !lower.starts_with("http://") {
        return Err(UrlFault::NotAbsolute);
    }
    let url = Url::parse(text).map_err(|_| UrlFault::NotAbsolute)?;
    if url.host_str().is_none_or(str::is_empty) {
        return Err(UrlFault::NotAbsolute);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(UrlFault::UserInfo);
    }
    if url.fragment().is_some() {
        return Err(UrlFault::Fragment);
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Policy;

    #[test]
    fn usual_urls_are_taken() {
        for text in [
            "https://shop.example/api/waybill/webhook",
            "http://shop.example:8080/?a=b&c=d",
            "HTTPS://Shop.Example",
            "https://दुकान.example/hook",
            "https://1.1.1.1/hook",
        ] {
            assert!(parse_url(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn others_are_refused_for_their_fault() {
        for (text, fault) in [
            ("", UrlFault::NotAbsolute),
            ("shop.example", UrlFault::NotAbsolute),
            ("//shop.example/", UrlFault::NotAbsolute),
            ("/webhook", UrlFault::NotAbsolute),
            ("ftp://shop.example/", UrlFault::NotAbsolute),
            ("file:///etc/passwd", UrlFault::NotAbsolute),
            ("javascript:alert(1)", UrlFault::NotAbsolute),
            ("http:shop.example", UrlFault::NotAbsolute),
            ("http:\\\\shop.example", UrlFault::NotAbsolute),
            ("https://", UrlFault::NotAbsolute),
            ("https://shop.example:99999/", UrlFault::NotAbsolute),
            ("https://exa mple.com/", UrlFault::NotAbsolute),
            ("https://user@shop.example/", UrlFault::UserInfo),
            ("https://user:word@shop.example/", UrlFault::UserInfo),
            ("https://:word@shop.example/", UrlFault::UserInfo),
            ("https://shop.example/#part", UrlFault::Fragment),
            ("https://shop.example/#", UrlFault::Fragment),
        ] {
            assert_eq!(parse_url(text), Err(fault), "{text}");
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
    ];

    /// Every spelling of an address that a URL may have is refused before any name is looked up.
    #[test]
    fn hostile_urls_are_refused() {
        let policy = Policy { allow_http: true, ..Policy::default() };
        for text in HOSTILE {
            let verdict = parse_url(text).ok().map(|url| policy.vet_url(&url));
            assert!(!matches!(verdict, Some(Ok(()))), "{text} leads to {:?}", parse_url(text));
        }
    }

    #[test]
    fn plain_http_wants_the_operator_s_leave() {
        let url = parse_url("http://shop.example/").unwrap();
        assert!(Policy::default().vet_url(&url).is_err());
        assert!(Policy { allow_http: true, ..Policy::default() }.vet_url(&url).is_ok());
        assert!(Policy::default().vet_url(&parse_url("https://shop.example/").unwrap()).is_ok());
    }
}

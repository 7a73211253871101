//! The name of a browser for people, from its `User-Agent`.

/// The first match counts: browsers also claim to be the ones that they descend from.
const BROWSERS: [(&[&str], &str); 6] = [
    (&["Edg/", "EdgA/", "EdgiOS/"], "Edge"),
    (&["OPR/"], "Opera"),
    (&["SamsungBrowser/"], "Samsung Internet"),
    (&["Firefox/", "FxiOS/"], "Firefox"),
    (&["Chrome/", "CriOS/"], "Chrome"),
    (&["Safari/"], "Safari"),
];
const SYSTEMS: [(&[&str], &str); 5] = [
    (&["iPhone", "iPad"], "iOS"),
    (&["Android"], "Android"),
    (&["Windows"], "Windows"),
    (&["Mac OS X"], "macOS"),
    (&["Linux"], "Linux"),
];
const UNKNOWN: &str = "Unknown browser";
/// In characters, for the names of other programs.
const NAME_MAX: usize = 40;

/// `Firefox on Windows`. Other programs are named by their first word.
pub fn browser_name(user_agent: Option<&str>) -> String {
    let Some(text) = user_agent.filter(|text| !text.is_empty()) else { return UNKNOWN.to_owned() };
    match (find(&BROWSERS, text), find(&SYSTEMS, text)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser.to_owned(),
        (None, _) => program(text),
    }
}

fn find(list: &[(&[&str], &'static str)], text: &str) -> Option<&'static str> {
    let found = list.iter().find(|(marks, _)| marks.iter().any(|mark| text.contains(mark)));
    found.map(|(_, name)| *name)
}

/// Only letters, digits, hyphens and underscores: the caller chooses this text, and it is shown in mails.
fn program(text: &str) -> String {
    let is_part = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name: String = text.chars().take_while(is_part).take(NAME_MAX).collect();
    if name.is_empty() { UNKNOWN.to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_and_programs_have_names() {
        let chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36";
        for (given, expected) in [
            (chrome, "Chrome on Linux"),
            (&chrome.replace("X11; Linux x86_64", "Windows NT 10.0; Win64; x64"), "Chrome on Windows"),
            (&format!("{chrome} Edg/140.0"), "Edge on Linux"),
            ("Mozilla/5.0 (Windows NT 10.0; rv:130.0) Gecko/20100101 Firefox/130.0", "Firefox on Windows"),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1",
                "Safari on iOS",
            ),
            ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) Version/18.0 Safari/605.1", "Safari on macOS"),
            ("Mozilla/5.0 (Android 14; Mobile; rv:130.0) Gecko/130.0 Firefox/130.0", "Firefox on Android"),
            ("curl/8.5.0", "curl"),
            ("<a href=x>", UNKNOWN),
            ("evil.example/1", "evil"),
            ("", UNKNOWN),
        ] {
            assert_eq!(browser_name(Some(given)), expected, "{given}");
        }
        assert_eq!(browser_name(None), UNKNOWN);
        assert_eq!(browser_name(Some(&"x".repeat(300))).len(), NAME_MAX);
    }
}

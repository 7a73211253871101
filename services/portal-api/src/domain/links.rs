//! Links to pages of the portal. Tokens are in the fragment, which browsers never send to a server.

use identity::LinkToken;
use url::Url;

#[derive(Clone, Debug)]
pub(crate) struct Links {
    public: Url,
    console: Url,
}

impl Links {
    pub(crate) fn new(public: Url) -> Self {
        Self { console: public.clone(), public }
    }

    /// The same links, with the console at another origin.
    #[must_use]
    pub(crate) fn with_console(self, console: Url) -> Self {
        Self { console, ..self }
    }

    /// The page that accepts an invitation.
    pub(crate) fn invitation(&self, token: &LinkToken) -> String {
        with_token(&self.page("invitation"), token)
    }

    /// The page that confirms an e-mail address.
    pub(crate) fn confirm_email(&self, token: &LinkToken) -> String {
        with_token(&self.page("confirm-email"), token)
    }

    /// The page that sets a new password.
    pub(crate) fn reset_password(&self, token: &LinkToken) -> String {
        with_token(&self.page("reset-password"), token)
    }

    /// The page where a person of the operator's staff sets a password.
    pub(crate) fn staff_password(&self, token: &LinkToken) -> String {
        with_token(&self.console_page("operator/password"), token)
    }

    pub(crate) fn portal(&self) -> &Url {
        &self.public
    }

    pub(crate) fn console(&self) -> &Url {
        &self.console
    }

    /// The page of the console with this path, which starts with `operator`.
    pub(crate) fn console_page(&self, path: &str) -> String {
        join(&self.console, path)
    }

    /// The page of the portal with this path.
    pub(crate) fn page(&self, path: &str) -> String {
        join(&self.public, path)
    }
}

fn join(base: &Url, path: &str) -> String {
    format!("{}/{path}", base.as_str().trim_end_matches('/'))
}

fn with_token(page: &str, token: &LinkToken) -> String {
    format!("{page}#token={}", token.expose())
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Entropy;

    #[test]
    fn links_keep_the_path_of_the_public_url() {
        let token = LinkToken::generate(&Entropy::seeded(1));
        for (public, before) in [
            ("https://portal.example.com", "https://portal.example.com/invitation#token="),
            ("https://example.com/portal/", "https://example.com/portal/invitation#token="),
        ] {
            let link = Links::new(Url::parse(public).unwrap()).invitation(&token);
            assert_eq!(link, format!("{before}{}", token.expose()));
        }
    }

    #[test]
    fn links_of_the_staff_lead_to_the_console() {
        let token = LinkToken::generate(&Entropy::seeded(1));
        let links = Links::new(Url::parse("https://portal.example.com").unwrap());
        let apart = links.clone().with_console(Url::parse("https://console.example.com").unwrap());
        for (links, origin) in [(links, "https://portal.example.com"), (apart, "https://console.example.com")]
        {
            assert_eq!(
                links.staff_password(&token),
                format!("{origin}/operator/password#token={}", token.expose())
            );
            assert!(links.invitation(&token).starts_with("https://portal.example.com/invitation#"));
        }
    }
}

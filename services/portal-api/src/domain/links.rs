//! Links to pages of the portal. Tokens are in the fragment, which browsers never send to a server.

use url::Url;

use super::LinkToken;

#[derive(Clone, Debug)]
pub(crate) struct Links {
    public: Url,
}

impl Links {
    pub(crate) fn new(public: Url) -> Self {
        Self { public }
    }

    /// The page that accepts an invitation.
    pub(crate) fn invitation(&self, token: &LinkToken) -> String {
        self.with_token("invitation", token)
    }

    /// The page that sets a new password.
    pub(crate) fn reset_password(&self, token: &LinkToken) -> String {
        self.with_token("reset-password", token)
    }

    /// The page where a person of the operator's staff sets a password.
    pub(crate) fn staff_password(&self, token: &LinkToken) -> String {
        self.with_token("operator/password", token)
    }

    /// The page with this path.
    pub(crate) fn page(&self, path: &str) -> String {
        let base = self.public.as_str().trim_end_matches('/');
        format!("{base}/{path}")
    }

    fn with_token(&self, path: &str, token: &LinkToken) -> String {
        format!("{}#token={}", self.page(path), token.expose())
    }
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
}

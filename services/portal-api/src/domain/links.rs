//! The portal's own pages that a link leads to. Secrets travel in the fragment, which browsers send to nobody.

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

    /// Where somebody accepts an invitation.
    pub(crate) fn invitation(&self, token: &LinkToken) -> String {
        self.with_token("invitation", token)
    }

    /// Where somebody chooses a new password.
    pub(crate) fn reset_password(&self, token: &LinkToken) -> String {
        self.with_token("reset-password", token)
    }

    /// A page by its path.
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
    fn links_lead_to_the_portal_wherever_it_lies() {
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

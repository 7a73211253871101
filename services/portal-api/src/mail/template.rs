//! The kinds of mails, and how they are rendered as plain text and simple HTML.

use askama::Template;
use chrono::{DateTime, Utc};
use domain::Paise;
use events::WalletMoneyTakenBack;
use identity::LinkToken;
use settings::Brand;
use strum::{IntoStaticStr, VariantNames};

use crate::domain::{Links, OperatorRole, Part, RegionFormat, Role, color};
use crate::mail::standing_texts;
use crate::mail::texts::{self, ClosingNews, Content, FactorNews};

/// A kind of mail with its values.
#[derive(IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Mail<'a> {
    PasswordReset {
        token: &'a LinkToken,
        expires_at: DateTime<Utc>,
    },
    ConfirmEmail {
        token: &'a LinkToken,
        expires_at: DateTime<Utc>,
    },
    /// To the address that a user changes to.
    ConfirmNewEmail {
        token: &'a LinkToken,
        expires_at: DateTime<Utc>,
    },
    /// To the present address, when somebody requests a change.
    EmailChangeRequested {
        at: DateTime<Utc>,
    },
    /// To the old address.
    EmailChanged {
        at: DateTime<Utc>,
    },
    PasswordChanged {
        at: DateTime<Utc>,
    },
    SecondFactor {
        news: FactorNews,
        at: DateTime<Utc>,
    },
    /// As [`Mail::PasswordChanged`], to a person of the operator's staff.
    StaffPasswordChanged {
        at: DateTime<Utc>,
    },
    /// As [`Mail::SecondFactor`], to a person of the operator's staff.
    StaffSecondFactor {
        news: FactorNews,
        at: DateTime<Utc>,
    },
    StaffRoleChanged {
        from: OperatorRole,
        to: OperatorRole,
        at: DateTime<Utc>,
    },
    /// A log-in from a browser that the user, or the person of the staff, had not used before.
    NewBrowser {
        part: Part,
        browser: &'a str,
        address: Option<&'a str>,
        at: DateTime<Utc>,
    },
    Invitation {
        business_name: &'a str,
        invited_by: &'a str,
        role: Role,
        token: &'a LinkToken,
        expires_at: DateTime<Utc>,
    },
    /// To the existing owners.
    NewOwner {
        email: &'a str,
    },
    /// To the user and the owners.
    ResetLinkIssued {
        email: &'a str,
        at: DateTime<Utc>,
    },
    /// To the owners.
    BusinessSuspended {
        at: DateTime<Utc>,
        reason: Option<&'a str>,
    },
    /// To the owners.
    SuspensionLifted {
        at: DateTime<Utc>,
    },
    /// To the owners.
    BusinessRefused {
        at: DateTime<Utc>,
        reason: &'a str,
    },
    /// To the owners.
    LiveAccessGranted {
        at: DateTime<Utc>,
    },
    /// To the owners.
    Closing {
        news: ClosingNews,
        at: DateTime<Utc>,
    },
    EndpointFailing {
        percent: i32,
    },
    EndpointDisabled {
        reason: &'a str,
    },
    LowBalance {
        balance: Paise,
        threshold: Paise,
    },
    MoneyTakenBack(&'a WalletMoneyTakenBack),
    /// To the author of a long export.
    ExportReady {
        part: Part,
        rows: i64,
        expires_at: DateTime<Utc>,
    },
}

/// The page of the own account in the console.
const ACCOUNT: &str = "operator/account";

/// The page where a reader looks after their own account.
fn account(links: &Links, part: Part) -> String {
    match part {
        Part::Portal => links.page("account"),
        Part::Console => links.console_page(ACCOUNT),
    }
}

pub(super) struct Rendered {
    pub(super) subject: String,
    pub(super) text: String,
    pub(super) html: String,
}

#[derive(Template)]
#[template(path = "mail.txt")]
struct Text<'a> {
    subject: &'a str,
    paragraphs: &'a [String],
    button: &'a str,
    link: &'a str,
    footer: &'a str,
    brand: &'a str,
}

#[derive(Template)]
#[template(path = "mail.html")]
struct Html<'a> {
    subject: &'a str,
    paragraphs: &'a [String],
    button: &'a str,
    link: &'a str,
    footer: &'a str,
    brand: &'a str,
    accent: &'a str,
    text_color: &'a str,
    heading: &'a str,
}

impl Mail<'_> {
    /// For logs and metrics.
    pub(crate) fn kind(&self) -> &'static str {
        self.into()
    }

    /// When the mail's link expires.
    pub(crate) fn expires_at(&self) -> Option<DateTime<Utc>> {
        match self {
            Self::PasswordReset { expires_at, .. }
            | Self::ConfirmEmail { expires_at, .. }
            | Self::ConfirmNewEmail { expires_at, .. }
            | Self::Invitation { expires_at, .. }
            | Self::ExportReady { expires_at, .. } => Some(*expires_at),
            _ => None,
        }
    }

    /// The token in the mail's link.
    pub(super) fn token(&self) -> Option<&LinkToken> {
        match self {
            Self::PasswordReset { token, .. }
            | Self::ConfirmEmail { token, .. }
            | Self::ConfirmNewEmail { token, .. }
            | Self::Invitation { token, .. } => Some(token),
            _ => None,
        }
    }

    /// Whether somebody asked for the mail, and its link works only for those who receive it.
    pub(super) fn proves_address(&self) -> bool {
        self.token().is_some()
    }

    /// # Errors
    /// When a template cannot be rendered.
    pub(super) fn render(
        &self,
        brand: &Brand,
        links: &Links,
        region: RegionFormat,
    ) -> askama::Result<Rendered> {
        let content = self.content(&brand.name, links, region);
        let text = Text {
            subject: &content.subject,
            paragraphs: &content.paragraphs,
            button: content.button,
            link: &content.link,
            footer: content.footer,
            brand: &brand.name,
        };
        let html = Html {
            subject: &content.subject,
            paragraphs: &content.paragraphs,
            button: content.button,
            link: &content.link,
            footer: content.footer,
            brand: &brand.name,
            accent: &brand.accent_color,
            text_color: color::text_on(&brand.accent_color),
            heading: color::readable_on_white(&brand.accent_color),
        };
        let (text, html) = (text.render()?, html.render()?);
        Ok(Rendered { subject: content.subject, text, html })
    }

    fn content(&self, brand: &str, links: &Links, region: RegionFormat) -> Content {
        let time = |at: &DateTime<Utc>| region.time(*at);
        match self {
            Self::PasswordReset { token, expires_at } => {
                texts::password_reset(brand, links.reset_password(token), &time(expires_at))
            }
            Self::ConfirmEmail { token, expires_at } => {
                texts::confirm_email(brand, links.confirm_email(token), &time(expires_at))
            }
            Self::ConfirmNewEmail { token, expires_at } => {
                texts::confirm_new_email(brand, links.confirm_email(token), &time(expires_at))
            }
            Self::EmailChangeRequested { at } => {
                texts::email_change_requested(brand, links.page("account"), &time(at))
            }
            Self::EmailChanged { at } => texts::email_changed(brand, links.page("account"), &time(at)),
            Self::PasswordChanged { at } => {
                texts::password_changed(brand, Part::Portal, links.page("reset-password"), &time(at))
            }
            Self::SecondFactor { news, at } => {
                texts::second_factor(brand, Part::Portal, *news, links.page("account"), &time(at))
            }
            Self::StaffPasswordChanged { at } => {
                texts::password_changed(brand, Part::Console, links.console_page(ACCOUNT), &time(at))
            }
            Self::StaffSecondFactor { news, at } => {
                texts::second_factor(brand, Part::Console, *news, links.console_page(ACCOUNT), &time(at))
            }
            Self::StaffRoleChanged { from, to, at } => {
                let roles = (from.as_str(), to.as_str());
                texts::role_changed(brand, roles, links.console_page(ACCOUNT), &time(at))
            }
            Self::NewBrowser { part, browser, address, at } => {
                let (link, contact) = (account(links, *part), texts::contact(*part));
                texts::new_browser(brand, (browser, *address), &time(at), link, contact)
            }
            Self::Invitation { business_name, invited_by, role, token, expires_at } => {
                let link = links.invitation(token);
                texts::invitation(brand, (business_name, invited_by), *role, link, &time(expires_at))
            }
            Self::NewOwner { email } => texts::new_owner(email, links.page("account/team")),
            Self::ResetLinkIssued { email, at } => {
                texts::reset_link_issued(email, &time(at), links.page("account/audit-log"))
            }
            Self::BusinessSuspended { at, reason } => {
                standing_texts::suspended(brand, (&time(at), *reason), links.page(""))
            }
            Self::BusinessRefused { at, reason } => {
                standing_texts::refused(brand, (&time(at), *reason), links.page(""))
            }
            Self::SuspensionLifted { at } => standing_texts::lifted(brand, &time(at), links.page("")),
            Self::LiveAccessGranted { at } => standing_texts::live_access(brand, &time(at), links.page("")),
            Self::Closing { news, at } => {
                texts::closing(brand, *news, &time(at), links.page("account/closing"))
            }
            Self::EndpointFailing { percent } => texts::endpoint_failing(*percent, links.page("webhooks")),
            Self::EndpointDisabled { reason } => texts::endpoint_disabled(reason, links.page("webhooks")),
            Self::MoneyTakenBack(taken) => texts::money_taken_back(taken, region, links.page("wallet")),
            Self::ExportReady { part, rows, expires_at } => {
                let link = match part {
                    Part::Portal => links.page("exports"),
                    Part::Console => links.console_page("operator/exports"),
                };
                texts::export_ready(&region.number(*rows), &time(expires_at), link)
            }
            Self::LowBalance { balance, threshold } => {
                texts::low_balance(&region.money(*balance), &region.money(*threshold), links.page("wallet"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::Entropy;
    use url::Url;

    use super::*;
    use crate::domain::Locale;

    fn region() -> RegionFormat {
        RegionFormat { locale: Locale::India, zone: chrono_tz::Tz::Asia__Kolkata }
    }

    #[test]
    fn a_mail_has_a_link_and_escapes_text_from_users() {
        let links = Links::new(Url::parse("https://portal.example.com").unwrap());
        let token = LinkToken::generate(&Entropy::seeded(1));
        let mail = Mail::Invitation {
            business_name: "<b>Bakery</b>",
            invited_by: "owner@shop.example",
            role: Role::Developer,
            token: &token,
            expires_at: DateTime::UNIX_EPOCH,
        };
        let rendered = mail.render(&Brand::default(), &links, region()).unwrap();
        assert_eq!(rendered.subject, "<b>Bakery</b> invites you to Waybill");
        let link = format!("https://portal.example.com/invitation#token={}", token.expose());
        assert!(rendered.text.contains(&link) && rendered.html.contains(&link), "{}", rendered.text);
        assert!(rendered.text.contains("1 January 1970, 05:30 IST"), "{}", rendered.text);
        assert!(!rendered.html.contains("<b>Bakery"), "{}", rendered.html);
    }

    #[test]
    fn owners_are_told_of_each_step_of_a_closing() {
        let links = Links::new(Url::parse("https://portal.example.com").unwrap());
        for (news, subject) in [
            (ClosingNews::Begun, "Your Waybill account is being closed"),
            (ClosingNews::TakenOver, "Your Waybill account is being closed by your delivery company"),
            (ClosingNews::Withdrawn, "Your Waybill account stays open"),
            (ClosingNews::Completed, "Your Waybill account was closed"),
        ] {
            let mail = Mail::Closing { news, at: DateTime::UNIX_EPOCH };
            let rendered = mail.render(&Brand::default(), &links, region()).unwrap();
            assert_eq!(rendered.subject, subject);
            assert!(rendered.text.contains("On 1 January 1970, 05:30 IST"), "{}", rendered.text);
            assert!(
                rendered.text.contains("https://portal.example.com/account/closing"),
                "{}",
                rendered.text
            );
        }
    }

    #[test]
    fn a_refusal_says_why() {
        let links = Links::new(Url::parse("https://portal.example.com").unwrap());
        let mail = Mail::BusinessRefused { at: DateTime::UNIX_EPOCH, reason: "The <GSTIN> is missing." };
        let rendered = mail.render(&Brand::default(), &links, region()).unwrap();
        assert_eq!(rendered.subject, "Your Waybill account is not approved yet");
        assert!(rendered.text.contains("Its reason: The <GSTIN> is missing."), "{}", rendered.text);
        assert!(!rendered.html.contains("<GSTIN>"), "{}", rendered.html);
    }

    #[test]
    fn a_requested_change_of_the_address_says_when_and_what_to_do() {
        let links = Links::new(Url::parse("https://portal.example.com").unwrap());
        let mail = Mail::EmailChangeRequested { at: "2026-01-31T18:30:00Z".parse().unwrap() };
        let rendered = mail.render(&Brand::default(), &links, region()).unwrap();
        assert_eq!(rendered.subject, "A change of the e-mail address of your Waybill account was requested");
        for text in [
            "1 February 2026, 00:00 IST",
            "end all other sessions",
            "change your password",
            "https://portal.example.com/account",
        ] {
            assert!(rendered.text.contains(text), "{text}: {}", rendered.text);
            assert!(rendered.html.contains(text), "{text}: {}", rendered.html);
        }
    }

    #[test]
    fn amounts_have_the_format_of_the_region() {
        let links = Links::new(Url::parse("https://portal.example.com").unwrap());
        let mail = Mail::LowBalance { balance: Paise::new(12_345), threshold: Paise::new(10_000_000) };
        let rendered = mail.render(&Brand::default(), &links, region()).unwrap();
        assert!(
            rendered.text.contains("₹123.45") && rendered.text.contains("₹1,00,000.00"),
            "{}",
            rendered.text
        );
        assert!(rendered.text.contains("https://portal.example.com/wallet"));
    }

    #[test]
    fn the_button_is_readable_with_a_light_accent() {
        let links = Links::new(Url::parse("https://portal.example.com").unwrap());
        let brand = Brand { accent_color: "#ffd500".to_owned(), ..Brand::default() };
        let mail = Mail::EndpointFailing { percent: 50 };
        let html = mail.render(&brand, &links, region()).unwrap().html;
        assert!(html.contains("background:#ffd500;color:#000000"), "{html}");
        assert!(html.contains("font-weight:600;color:#1c1f24"), "{html}");
    }
}

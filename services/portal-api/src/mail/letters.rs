//! What mails say: a subject, a few sentences, one thing to do about it. As plain text and as simple HTML.

use askama::Template;
use chrono::{DateTime, Utc};
use domain::Paise;
use settings::Brand;
use strum::{IntoStaticStr, VariantNames};

use crate::domain::{LinkToken, Links, Place, Role, colour, has_web_address};

/// A mail, before it is put into words.
#[derive(IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Letter<'a> {
    PasswordReset {
        token: &'a LinkToken,
        expires_at: DateTime<Utc>,
    },
    PasswordChanged {
        at: DateTime<Utc>,
    },
    Invitation {
        business_name: &'a str,
        invited_by: &'a str,
        role: Role,
        token: &'a LinkToken,
        expires_at: DateTime<Utc>,
    },
    /// To those who are owners already.
    NewOwner {
        email: &'a str,
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
}

/// A mail in words.
pub(crate) struct Written {
    pub(crate) subject: String,
    pub(crate) text: String,
    pub(crate) html: String,
}

/// What differs from letter to letter.
struct Content {
    subject: String,
    paragraphs: Vec<String>,
    button: &'static str,
    link: String,
    footer: &'static str,
}

#[derive(Template)]
#[template(path = "mail.txt")]
struct AsText<'a> {
    subject: &'a str,
    paragraphs: &'a [String],
    button: &'a str,
    link: &'a str,
    footer: &'a str,
    brand: &'a str,
}

#[derive(Template)]
#[template(path = "mail.html")]
struct AsHtml<'a> {
    subject: &'a str,
    paragraphs: &'a [String],
    button: &'a str,
    link: &'a str,
    footer: &'a str,
    brand: &'a str,
    accent: &'a str,
    letters: &'a str,
    heading: &'a str,
}

const NOT_ASKED_FOR: &str =
    "If you did not ask for this, you need not do anything. Nobody but you has this link; do not pass it on.";
const TO_THE_TEAM: &str = "This goes to the owners and developers of your business.";
const TO_OWNERS: &str = "This goes to the owners of your business.";
const FOR_YOUR_SAFETY: &str = "You get this for your safety, whenever your password changes.";

impl Letter<'_> {
    /// For logs and metrics.
    pub(crate) fn kind(&self) -> &'static str {
        self.into()
    }

    /// When what it holds is of no use any more.
    pub(crate) fn expires_at(&self) -> Option<DateTime<Utc>> {
        match self {
            Self::PasswordReset { expires_at, .. } | Self::Invitation { expires_at, .. } => Some(*expires_at),
            _ => None,
        }
    }

    /// The secret that its link carries.
    pub(super) fn token(&self) -> Option<&LinkToken> {
        match self {
            Self::PasswordReset { token, .. } | Self::Invitation { token, .. } => Some(token),
            _ => None,
        }
    }

    /// # Errors
    /// When a template cannot be filled in.
    pub(crate) fn write(&self, brand: &Brand, links: &Links, place: Place) -> askama::Result<Written> {
        let content = self.content(&brand.name, links, place);
        let text = AsText {
            subject: &content.subject,
            paragraphs: &content.paragraphs,
            button: content.button,
            link: &content.link,
            footer: content.footer,
            brand: &brand.name,
        };
        let html = AsHtml {
            subject: &content.subject,
            paragraphs: &content.paragraphs,
            button: content.button,
            link: &content.link,
            footer: content.footer,
            brand: &brand.name,
            accent: &brand.accent_color,
            letters: colour::letters_on(&brand.accent_color),
            heading: colour::readable_on_white(&brand.accent_color),
        };
        let (text, html) = (text.render()?, html.render()?);
        Ok(Written { subject: content.subject, text, html })
    }

    fn content(&self, brand: &str, links: &Links, place: Place) -> Content {
        match self {
            Self::PasswordReset { token, expires_at } => {
                password_reset(brand, links.reset_password(token), &place.time(*expires_at))
            }
            Self::PasswordChanged { at } => {
                password_changed(brand, links.page("reset-password"), &place.time(*at))
            }
            Self::Invitation { business_name, invited_by, role, token, expires_at } => {
                let link = links.invitation(token);
                invitation(brand, (business_name, invited_by), *role, link, &place.time(*expires_at))
            }
            Self::NewOwner { email } => new_owner(email, links.page("account/team")),
            Self::EndpointFailing { percent } => endpoint_failing(*percent, links.page("webhooks")),
            Self::EndpointDisabled { reason } => endpoint_disabled(reason, links.page("webhooks")),
            Self::LowBalance { balance, threshold } => {
                low_balance(&place.money(*balance), &place.money(*threshold), links.page("wallet"))
            }
        }
    }
}

fn password_reset(brand: &str, link: String, until: &str) -> Content {
    Content {
        subject: format!("Choose a new password for {brand}"),
        paragraphs: vec![format!(
            "Somebody, hopefully you, asked to reset your password. The link below works once, until {until}."
        )],
        button: "Choose a new password",
        link,
        footer: NOT_ASKED_FOR,
    }
}

fn password_changed(brand: &str, link: String, at: &str) -> Content {
    Content {
        subject: format!("Your {brand} password was changed"),
        paragraphs: vec![
            format!(
                "Your password was changed on {at}. Whoever was logged in with the old one is logged out."
            ),
            "If that was not you, reset your password at once and tell an owner of your business.".to_owned(),
        ],
        button: "Reset the password",
        link,
        footer: FOR_YOUR_SAFETY,
    }
}

fn invitation(
    brand: &str,
    (business_name, invited_by): (&str, &str),
    role: Role,
    link: String,
    until: &str,
) -> Content {
    // Of an account that is older than the rule for names.
    let business_name = if has_web_address(business_name) { "A business" } else { business_name };
    Content {
        subject: format!("{business_name} invites you to {brand}"),
        paragraphs: vec![
            format!("{invited_by} invites you to the account of {business_name}, with the role {role}."),
            format!("Choose a password to accept. The link below works once, until {until}."),
        ],
        button: "Accept the invitation",
        link,
        footer: NOT_ASKED_FOR,
    }
}

fn new_owner(email: &str, link: String) -> Content {
    Content {
        subject: "Your business has a new owner".to_owned(),
        paragraphs: vec![format!(
            "{email} is an owner of your business from now on: they see and change everything, money and people included."
        )],
        button: "See the team",
        link,
        footer: TO_OWNERS,
    }
}

fn endpoint_failing(percent: i32, link: String) -> Content {
    Content {
        subject: "A webhook endpoint of yours only fails".to_owned(),
        paragraphs: vec![
            format!(
                "Every webhook to one of your endpoints has failed for a while. {percent} % of the time is over after \
                 which it is disabled."
            ),
            "Nothing is lost yet: what failed is tried again. Look at the delivery log for the reason."
                .to_owned(),
        ],
        button: "See the webhooks",
        link,
        footer: TO_THE_TEAM,
    }
}

fn endpoint_disabled(reason: &str, link: String) -> Content {
    Content {
        subject: "A webhook endpoint of yours was disabled".to_owned(),
        paragraphs: vec![
            format!("We do not send webhooks to one of your endpoints any more: {reason}."),
            "What comes meanwhile is parked. Mend the endpoint and enable it again; you choose then whether what was \
             parked is sent."
                .to_owned(),
        ],
        button: "See the webhooks",
        link,
        footer: TO_THE_TEAM,
    }
}

fn low_balance(balance: &str, threshold: &str, link: String) -> Content {
    Content {
        subject: "Your wallet is running low".to_owned(),
        paragraphs: vec![
            format!("Your balance is {balance}, below the {threshold} that you want to be warned at."),
            "Live orders are refused when the balance does not cover their fee.".to_owned(),
        ],
        button: "Top up the wallet",
        link,
        footer: TO_THE_TEAM,
    }
}

#[cfg(test)]
mod tests {
    use domain::Entropy;
    use url::Url;

    use super::*;
    use crate::region_settings::Region;

    fn place() -> Place {
        let Region { locale, .. } = Region::default();
        Place { locale, zone: chrono_tz::Tz::Asia__Kolkata }
    }

    #[test]
    fn a_letter_says_what_to_do_and_escapes_what_others_wrote() {
        let links = Links::new(Url::parse("https://portal.example.com").unwrap());
        let token = LinkToken::generate(&Entropy::seeded(1));
        let letter = Letter::Invitation {
            business_name: "<b>Bakery</b>",
            invited_by: "owner@shop.example",
            role: Role::Developer,
            token: &token,
            expires_at: DateTime::UNIX_EPOCH,
        };
        let written = letter.write(&Brand::default(), &links, place()).unwrap();
        assert_eq!(written.subject, "<b>Bakery</b> invites you to Waybill");
        let link = format!("https://portal.example.com/invitation#token={}", token.expose());
        assert!(written.text.contains(&link) && written.html.contains(&link), "{}", written.text);
        assert!(written.text.contains("1 January 1970, 05:30 IST"), "{}", written.text);
        assert!(!written.html.contains("<b>Bakery"), "{}", written.html);
    }

    #[test]
    fn money_is_written_as_people_read_it() {
        let links = Links::new(Url::parse("https://portal.example.com").unwrap());
        let letter = Letter::LowBalance { balance: Paise::new(12_345), threshold: Paise::new(10_000_000) };
        let written = letter.write(&Brand::default(), &links, place()).unwrap();
        assert!(
            written.text.contains("₹123.45") && written.text.contains("₹1,00,000.00"),
            "{}",
            written.text
        );
        assert!(written.text.contains("https://portal.example.com/wallet"));
    }
    #[test]
    fn the_button_can_be_read_on_a_light_accent() {
        let links = Links::new(Url::parse("https://portal.example.com").unwrap());
        let brand = Brand { accent_color: "#ffd500".to_owned(), ..Brand::default() };
        let letter = Letter::EndpointFailing { percent: 50 };
        let html = letter.write(&brand, &links, place()).unwrap().html;
        assert!(html.contains("background:#ffd500;color:#000000"), "{html}");
        assert!(html.contains("font-weight:600;color:#1c1f24"), "{html}");
    }
}

//! How mails leave (`WAYBILL_MAIL__…`). Without a transport there are none: the operator hands out links instead.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Environment, Secret, SettingErrors};

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct MailSettings {
    /// `smtp` wants a host; `folder` is for a local stack; with `none` the operator hands out links.
    pub transport: MailTransport,
    /// Whom mails come from: an address, or `Name <address>`.
    pub from: String,
    /// Where mails are written to as `.eml` files, for `folder`.
    pub folder: Option<PathBuf>,
    /// The mail server, for `smtp`.
    pub host: Option<String>,
    /// The usual one of the encryption when left out.
    #[schemars(range(min = 1, max = 65_535))]
    pub port: Option<u16>,
    /// `tls` from the first byte on, or `starttls`.
    pub encryption: MailEncryption,
    /// At the mail server; given together with the password, or left out.
    pub user: Option<String>,
    /// At the mail server, which chose it: 8 characters or more.
    #[schemars(length(min = 8))]
    pub password: Option<Secret>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MailTransport {
    #[default]
    None,
    Smtp,
    /// For a local stack.
    Folder,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MailEncryption {
    /// From the first byte on.
    #[default]
    Tls,
    /// Asked for before anything else is said; without it nothing is sent.
    Starttls,
    /// For a local stack.
    None,
}

impl Default for MailSettings {
    fn default() -> Self {
        Self {
            transport: MailTransport::default(),
            from: "Waybill <no-reply@localhost.localdomain>".to_owned(),
            folder: None,
            host: None,
            port: None,
            encryption: MailEncryption::default(),
            user: None,
            password: None,
        }
    }
}

impl MailSettings {
    pub fn is_enabled(&self) -> bool {
        self.transport != MailTransport::None
    }

    /// Names what is wrong with this section.
    pub(crate) fn check(&self, errors: &mut SettingErrors, environment: Environment) {
        if !self.is_enabled() {
            return;
        }
        let is_local = environment == Environment::Local;
        if self.from.parse::<lettre::message::Mailbox>().is_err() {
            errors.add("WAYBILL_MAIL__FROM", "must be an address, or a name with one: Name <address>");
        } else if !is_local && self.from == Self::default().from {
            errors.add("WAYBILL_MAIL__FROM", "is missing: whom mails come from");
        }
        match self.transport {
            MailTransport::Folder if self.folder.is_none() => {
                errors.add("WAYBILL_MAIL__FOLDER", "is missing");
            }
            MailTransport::Folder if !is_local => {
                errors.add(
                    "WAYBILL_MAIL__TRANSPORT",
                    "must not be a folder: mails hold links that let people in",
                );
            }
            MailTransport::Smtp => self.check_smtp(errors, is_local),
            MailTransport::Folder | MailTransport::None => {}
        }
    }

    fn check_smtp(&self, errors: &mut SettingErrors, is_local: bool) {
        if self.host.as_deref().is_none_or(|host| host.trim().is_empty()) {
            errors.add("WAYBILL_MAIL__HOST", "is missing: the mail server");
        }
        if self.user.is_some() != self.password.is_some() {
            errors.add("WAYBILL_MAIL__USER", "and WAYBILL_MAIL__PASSWORD are given together, or neither");
        }
        if self.encryption == MailEncryption::None && !is_local {
            errors.add("WAYBILL_MAIL__ENCRYPTION", "must be tls or starttls");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(mail: &MailSettings, environment: Environment) -> String {
        let mut errors = SettingErrors::default();
        mail.check(&mut errors, environment);
        errors.to_string()
    }

    #[test]
    fn what_is_missing_is_named() {
        assert_eq!(errors(&MailSettings::default(), Environment::Production), "");
        let folder = MailSettings { transport: MailTransport::Folder, ..MailSettings::default() };
        assert!(errors(&folder, Environment::Local).contains("WAYBILL_MAIL__FOLDER"));
        let smtp = MailSettings {
            transport: MailTransport::Smtp,
            from: "nobody".to_owned(),
            user: Some("me".to_owned()),
            encryption: MailEncryption::None,
            ..MailSettings::default()
        };
        let named = errors(&smtp, Environment::Production);
        for variable in ["FROM", "HOST", "USER", "ENCRYPTION"] {
            assert!(named.contains(&format!("WAYBILL_MAIL__{variable}")), "{named}");
        }
        assert!(!errors(&smtp, Environment::Local).contains("ENCRYPTION"));
    }

    #[test]
    fn production_sends_through_a_server_and_under_a_name_of_its_own() {
        let good = MailSettings {
            transport: MailTransport::Smtp,
            from: "Shipping <no-reply@ship.example>".to_owned(),
            host: Some("mail.ship.example".to_owned()),
            user: Some("me".to_owned()),
            password: Some(Secret::new("secret")),
            ..MailSettings::default()
        };
        assert_eq!(errors(&good, Environment::Production), "");
        let folder = MailSettings {
            transport: MailTransport::Folder,
            folder: Some("mails".into()),
            ..MailSettings::default()
        };
        assert!(errors(&folder, Environment::Production).contains("WAYBILL_MAIL__TRANSPORT"));
        assert_eq!(errors(&folder, Environment::Local), "");
    }
}

//! The settings of mails (`WAYBILL_MAIL__…`). Without a transport no mails are sent, and the operator passes on links instead.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Environment, Secret, SettingErrors};

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct MailSettings {
    /// `smtp` requires a host; `folder` is for a local stack; with `none` no mails are sent, and the operator passes on links.
    pub transport: MailTransport,
    /// The sender: an address, or `Name <address>`.
    pub from: String,
    /// For `folder`: where mails are written as `.eml` files.
    pub folder: Option<PathBuf>,
    /// For `smtp`: the mail server.
    pub host: Option<String>,
    /// The default depends on the encryption.
    #[schemars(range(min = 1, max = 65_535))]
    pub port: Option<u16>,
    /// `tls` (encrypted from the start) or `starttls`.
    pub encryption: MailEncryption,
    /// The user name at the mail server. Set both this and the password, or neither.
    pub user: Option<String>,
    /// The password at the mail server, at least 8 characters.
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
    /// Encrypted from the start.
    #[default]
    Tls,
    /// Upgrades the connection before sending; fails if the server does not support it.
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

    /// Adds the errors of this section.
    pub(crate) fn check(&self, errors: &mut SettingErrors, environment: Environment) {
        if !self.is_enabled() {
            return;
        }
        let is_local = environment == Environment::Local;
        if self.from.parse::<lettre::message::Mailbox>().is_err() {
            errors.add("WAYBILL_MAIL__FROM", "must be an address, or a name and an address: Name <address>");
        } else if !is_local && self.from == Self::default().from {
            errors.add("WAYBILL_MAIL__FROM", "is missing: set the sender of mails");
        }
        match self.transport {
            MailTransport::Folder if self.folder.is_none() => {
                errors.add("WAYBILL_MAIL__FOLDER", "is missing: set the folder for mails");
            }
            MailTransport::Folder if !is_local => {
                errors.add(
                    "WAYBILL_MAIL__TRANSPORT",
                    "must not be folder: mails contain links that grant access",
                );
            }
            MailTransport::Smtp => self.check_smtp(errors, is_local),
            MailTransport::Folder | MailTransport::None => {}
        }
    }

    fn check_smtp(&self, errors: &mut SettingErrors, is_local: bool) {
        if self.host.as_deref().is_none_or(|host| host.trim().is_empty()) {
            errors.add("WAYBILL_MAIL__HOST", "is missing: set the mail server");
        }
        if self.user.is_some() != self.password.is_some() {
            errors.add("WAYBILL_MAIL__USER", "and WAYBILL_MAIL__PASSWORD must be set together");
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
    fn missing_settings_are_listed() {
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
    fn production_needs_a_server_and_a_sender() {
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

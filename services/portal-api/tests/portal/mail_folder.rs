//! The folder transport of mails.

use std::fs;
use std::path::Path;

use test_kit::{Directory, until};

use crate::portal::Portal;

/// How the subject of the first mail of an account begins.
pub(crate) const WELCOME: &str = "Confirm your e-mail address for";

pub(crate) struct MailFolder(Directory);

/// A mail as its reader sees it.
#[derive(Clone, Debug)]
pub(crate) struct Mail {
    pub(crate) to: String,
    pub(crate) subject: String,
    /// All of it, decoded.
    pub(crate) text: String,
}

impl Mail {
    /// The secret of the link in it.
    pub(crate) fn token(&self) -> String {
        let after = self.text.split("#token=").nth(1).unwrap_or_else(|| panic!("no link: {}", self.text));
        after.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-' || *c == '_').collect()
    }
}

impl MailFolder {
    pub(crate) fn new() -> Self {
        Self(Directory::new("portal-mails"))
    }

    /// What makes a portal send its mails here.
    pub(crate) fn settings(&self) -> [(&'static str, &str); 3] {
        [
            ("WAYBILL_LIMITS__PER_ADDRESS", "false"),
            ("WAYBILL_MAIL__TRANSPORT", "folder"),
            ("WAYBILL_MAIL__FOLDER", self.path()),
        ]
    }

    pub(crate) fn path(&self) -> &str {
        self.0.path().to_str().unwrap()
    }

    /// Everything that has arrived, oldest first.
    pub(crate) fn all(&self) -> Vec<Mail> {
        mails_in(self.0.path())
    }

    /// What has arrived, oldest first, without the first mail of each account.
    pub(crate) fn mails(&self) -> Vec<Mail> {
        let mut mails = self.all();
        mails.retain(|mail| !mail.subject.starts_with(WELCOME));
        mails
    }

    /// Waits for so many mails to confirm this address, and gives the tokens of their links.
    pub(crate) async fn confirmations(&self, to: &str, count: usize) -> Vec<String> {
        let found = || {
            let mut mails = self.all();
            mails.retain(|mail| mail.to == to && mail.subject.starts_with("Confirm your "));
            mails
        };
        until(&format!("{count} mails to confirm {to} arrive"), async || found().len() >= count).await;
        found().iter().map(Mail::token).collect()
    }

    /// Waits for so many, and gives them.
    pub(crate) async fn wait_for(&self, count: usize) -> Vec<Mail> {
        until(&format!("{count} mails arrive"), async || self.mails().len() >= count).await;
        self.mails()
    }
}

/// Oldest first. None of a folder that does not exist yet.
pub(crate) fn mails_in(folder: &Path) -> Vec<Mail> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "eml"));
    paths.sort();
    paths.iter().map(|path| read(&fs::read_to_string(path).unwrap())).collect()
}

impl Portal {
    /// One that writes its mails into the folder.
    pub(crate) async fn with_mails(folder: &MailFolder) -> Self {
        Self::with(&folder.settings()).await
    }
}

pub(crate) fn read(source: &str) -> Mail {
    let header = |name: &str| {
        let line = source.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().trim().to_owned()
    };
    Mail { to: header("To:"), subject: header("Subject:"), text: decoded(source) }
}

/// Quoted-printable, undone (RFC 2045 §6.7).
fn decoded(source: &str) -> String {
    let joined = source.replace("=\r\n", "");
    let mut bytes = Vec::new();
    let mut rest = joined.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = (*first == b'=').then(|| std::str::from_utf8(tail.get(..2)?).ok()).flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

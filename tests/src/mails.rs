//! Links in the mails of a local stack, which writes them to a folder.

use std::path::Path;

use demo::eventually;
use serde_json::json;
use test_kit::PATIENCE;

use crate::Business;

impl Business {
    /// The token of a link to this page of the portal, in a mail to this address.
    ///
    /// # Errors
    /// When no such mail arrives.
    pub async fn mailed_token(&self, to: &str, page: &str) -> anyhow::Result<String> {
        let what = format!("a mail to {to} with a link to {page}");
        eventually(&what, PATIENCE, || async { find(&self.mails, to, page) }).await
    }

    /// Confirms the owner's e-mail address, unless the release knows no confirmation or it has happened.
    ///
    /// # Errors
    /// When no mail arrives, or its link is refused.
    pub async fn confirm_email(&self) -> anyhow::Result<()> {
        if self.portal.get("/session").await?["emailVerified"] != false {
            return Ok(());
        }
        let token = self.mailed_token(&self.email, "confirm-email").await?;
        self.portal.post("/email-confirmations/confirm", &json!({ "token": token })).await?.expect(200)?;
        Ok(())
    }
}

fn find(folder: &Path, to: &str, page: &str) -> anyhow::Result<Option<String>> {
    // The first mail creates the folder.
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(None) };
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "eml") {
            continue;
        }
        // Quoted-printable mails break long lines, and write `=` as `=3D`.
        let mail = std::fs::read_to_string(&path)?.replace("=\r\n", "").replace("=3D", "=");
        let is_theirs = mail.lines().any(|line| line.trim_end() == format!("To: {to}"));
        let link = mail.split(&format!("/{page}#token=")).nth(1).filter(|_| is_theirs);
        if let Some(link) = link {
            let in_token = |character: &char| character.is_ascii_alphanumeric() || "-_".contains(*character);
            return Ok(Some(link.chars().take_while(in_token).collect()));
        }
    }
    Ok(None)
}

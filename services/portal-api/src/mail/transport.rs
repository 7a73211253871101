//! How mails leave: by SMTP, into a folder of `.eml` files, or not at all.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use chrono::{DateTime, Utc};
use lettre::message::{Mailbox, MultiPart};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::extension::ClientId;
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use tokio::io::AsyncWriteExt as _;
use url::Url;

use crate::domain::Email;
use crate::settings::{MailEncryption, MailSettings, MailTransport};
use crate::store::mails::Claimed;

/// For one exchange with the mail server; a whole mail takes a few.
const SMTP_WAIT_MAX: Duration = Duration::from_secs(10);
/// For a whole mail.
pub(super) const SEND_MAX: Duration = Duration::from_secs(30);

/// A way out, and whom mails come from.
#[derive(Clone)]
pub(crate) struct Transport {
    from: Mailbox,
    /// What ids of messages end with.
    host: String,
    way: Way,
}

#[derive(Clone)]
enum Way {
    Smtp(AsyncSmtpTransport<Tokio1Executor>),
    Folder(PathBuf),
}

/// Why a mail did not leave. Never with the recipient.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    /// Trying again changes nothing.
    #[error("it will never be taken: {0}")]
    Never(String),
    #[error("it was not taken this time: {0}")]
    Later(String),
}

/// Whether [`Transport`] would take it as a recipient.
pub(crate) fn is_deliverable(email: &Email) -> bool {
    email.as_str().parse::<lettre::Address>().is_ok()
}

impl Transport {
    /// `None` when no mails are sent.
    ///
    /// # Errors
    /// When the settings do not make a way out.
    pub(crate) fn new(settings: &MailSettings, public: &Url) -> anyhow::Result<Option<Self>> {
        let host = public.host_str().unwrap_or("localhost").to_owned();
        let way = match settings.transport {
            MailTransport::None => return Ok(None),
            MailTransport::Folder => {
                Way::Folder(settings.folder.clone().context("WAYBILL_MAIL__FOLDER is required")?)
            }
            MailTransport::Smtp => Way::Smtp(smtp(settings, &host)?),
        };
        let from = settings.from.parse().context("WAYBILL_MAIL__FROM is no mailbox")?;
        Ok(Some(Self { from, host, way }))
    }

    /// `bodies` are its text and its HTML as they are to leave.
    pub(super) async fn send(
        &self,
        mail: &Claimed,
        bodies: (String, String),
        now: DateTime<Utc>,
    ) -> Result<(), SendError> {
        let message = self.message(mail, bodies, now)?;
        let sending = async {
            match &self.way {
                Way::Smtp(server) => send_by_smtp(server, message).await,
                Way::Folder(folder) => write_to(folder, mail, now, &message.formatted())
                    .await
                    .map_err(|error| SendError::Later(error.to_string())),
            }
        };
        let sent = tokio::time::timeout(SEND_MAX, sending).await;
        sent.unwrap_or_else(|_| Err(SendError::Later("it took too long".to_owned())))
    }

    fn message(
        &self,
        mail: &Claimed,
        (text, html): (String, String),
        now: DateTime<Utc>,
    ) -> Result<Message, SendError> {
        // The reason may quote the address, which no log is to hold.
        let address =
            mail.recipient.parse().map_err(|_| SendError::Never("the address is none".to_owned()))?;
        Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, address))
            .subject(&mail.subject)
            .date(now.into())
            .message_id(Some(format!("<{}.{}@{}>", mail.id, now.timestamp(), self.host)))
            .multipart(MultiPart::alternative_plain_html(text, html))
            .map_err(|error| SendError::Never(error.to_string()))
    }
}

fn smtp(settings: &MailSettings, host: &str) -> anyhow::Result<AsyncSmtpTransport<Tokio1Executor>> {
    let server = settings.host.as_deref().context("WAYBILL_MAIL__HOST is required")?;
    let builder = match settings.encryption {
        MailEncryption::Tls => AsyncSmtpTransport::<Tokio1Executor>::relay(server)?,
        MailEncryption::Starttls => AsyncSmtpTransport::<Tokio1Executor>::starttls_relay(server)?,
        MailEncryption::None => AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(server),
    };
    let builder = builder.timeout(Some(SMTP_WAIT_MAX)).hello_name(ClientId::Domain(host.to_owned()));
    let builder = match settings.port {
        Some(port) => builder.port(port),
        None => builder,
    };
    let builder = match (&settings.user, &settings.password) {
        (Some(user), Some(password)) => {
            builder.credentials(Credentials::new(user.clone(), password.expose().to_owned()))
        }
        _ => builder,
    };
    Ok(builder.build())
}

async fn send_by_smtp(
    server: &AsyncSmtpTransport<Tokio1Executor>,
    message: Message,
) -> Result<(), SendError> {
    match server.send(message).await {
        Ok(_) => Ok(()),
        // What the server says may quote the address; its code says enough.
        Err(error) => {
            let code = error.status().map_or_else(|| "no answer".to_owned(), |code| code.to_string());
            Err(if error.is_permanent() { SendError::Never(code) } else { SendError::Later(code) })
        }
    }
}

/// Whole or not at all, so that nobody reads half a mail.
async fn write_to(folder: &Path, mail: &Claimed, now: DateTime<Utc>, bytes: &[u8]) -> std::io::Result<()> {
    tokio::fs::create_dir_all(folder).await?;
    let name = format!("{}-{:06}-{}", now.format("%Y%m%dT%H%M%S"), mail.id, mail.kind);
    let unfinished = folder.join(format!("{name}.unfinished"));
    let mut file = tokio::fs::OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(&unfinished)
        .await?;
    file.write_all(bytes).await?;
    file.flush().await?;
    drop(file);
    tokio::fs::rename(&unfinished, folder.join(format!("{name}.eml"))).await
}

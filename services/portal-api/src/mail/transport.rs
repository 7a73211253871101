//! Transports for mails: SMTP, or a folder of `.eml` files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use chrono::{DateTime, Utc};
use domain::Email;
use lettre::message::{Mailbox, MultiPart};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::extension::ClientId;
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use settings::Secret;
use tokio::io::AsyncWriteExt as _;

use crate::store::mails::ClaimedMail;

/// The timeout of one SMTP command.
const SMTP_TIMEOUT: Duration = Duration::from_secs(10);
/// The timeout of sending one mail.
pub(super) const SEND_MAX: Duration = Duration::from_secs(30);

/// Where mails go.
pub(crate) enum Route {
    Smtp(SmtpServer),
    /// Writes `.eml` files.
    Folder(PathBuf),
}

pub(crate) struct SmtpServer {
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
    pub(crate) encryption: Encryption,
    pub(crate) credentials: Option<(String, Secret)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encryption {
    Tls,
    Starttls,
    None,
}

pub(crate) struct Transport {
    from: Mailbox,
    /// The domain of message ids.
    host: String,
    backend: Backend,
}

enum Backend {
    Smtp(AsyncSmtpTransport<Tokio1Executor>),
    Folder(PathBuf),
}

/// Why a mail was not sent. Never contains the recipient.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    /// A retry would fail as well.
    #[error("permanent failure: {0}")]
    Permanent(String),
    #[error("transient failure: {0}")]
    Transient(String),
}

/// Whether [`Transport`] accepts the address as a recipient.
pub(crate) fn is_deliverable(email: &Email) -> bool {
    email.as_str().parse::<lettre::Address>().is_ok()
}

impl Transport {
    /// `host` is this portal's name, for message ids and the SMTP greeting.
    ///
    /// # Errors
    /// When the sender's address or the server's name is invalid.
    pub(crate) fn new(route: Route, from: &str, host: String) -> anyhow::Result<Self> {
        let backend = match route {
            Route::Folder(folder) => Backend::Folder(folder),
            Route::Smtp(server) => Backend::Smtp(smtp(server, &host)?),
        };
        let from = from.parse().context("WAYBILL_MAIL__FROM is not a mail address")?;
        Ok(Self { from, host, backend })
    }

    /// `bodies` are the text and the HTML.
    pub(super) async fn send(
        &self,
        mail: &ClaimedMail,
        bodies: (String, String),
        now: DateTime<Utc>,
    ) -> Result<(), SendError> {
        let message = self.message(mail, bodies, now)?;
        let sending = async {
            match &self.backend {
                Backend::Smtp(server) => send_by_smtp(server, message).await,
                Backend::Folder(folder) => write_to(folder, mail, now, &message.formatted())
                    .await
                    .map_err(|error| SendError::Transient(error.to_string())),
            }
        };
        let sent = tokio::time::timeout(SEND_MAX, sending).await;
        sent.unwrap_or_else(|_| Err(SendError::Transient("timed out".to_owned())))
    }

    fn message(
        &self,
        mail: &ClaimedMail,
        (text, html): (String, String),
        now: DateTime<Utc>,
    ) -> Result<Message, SendError> {
        // The parser's message may quote the address, which must not be logged.
        let address =
            mail.recipient.parse().map_err(|_| SendError::Permanent("the address is invalid".to_owned()))?;
        Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, address))
            .subject(undecodable(&mail.subject))
            .date(now.into())
            .message_id(Some(format!("<{}.{}@{}>", mail.id, now.timestamp(), self.host)))
            .multipart(MultiPart::alternative_plain_html(text, html))
            .map_err(|error| SendError::Permanent(error.to_string()))
    }
}

/// Names may look like encoded words (RFC 2047), which mail programs would decode into texts that names must not have.
fn undecodable(subject: &str) -> String {
    subject.replace("=?", "= ?")
}

fn smtp(server: SmtpServer, host: &str) -> anyhow::Result<AsyncSmtpTransport<Tokio1Executor>> {
    let builder = match server.encryption {
        Encryption::Tls => AsyncSmtpTransport::<Tokio1Executor>::relay(&server.host)?,
        Encryption::Starttls => AsyncSmtpTransport::<Tokio1Executor>::starttls_relay(&server.host)?,
        Encryption::None => AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&server.host),
    };
    let builder = builder.timeout(Some(SMTP_TIMEOUT)).hello_name(ClientId::Domain(host.to_owned()));
    let builder = match server.port {
        Some(port) => builder.port(port),
        None => builder,
    };
    let builder = match server.credentials {
        Some((user, password)) => builder.credentials(Credentials::new(user, password.expose().to_owned())),
        None => builder,
    };
    Ok(builder.build())
}

async fn send_by_smtp(
    server: &AsyncSmtpTransport<Tokio1Executor>,
    message: Message,
) -> Result<(), SendError> {
    match server.send(message).await {
        Ok(_) => Ok(()),
        // The server's message may quote the address. Its code is enough.
        Err(error) => {
            let code = error.status().map_or_else(|| "no answer".to_owned(), |code| code.to_string());
            Err(if error.is_permanent() { SendError::Permanent(code) } else { SendError::Transient(code) })
        }
    }
}

/// Writes a temporary file and renames it, so that readers never see an incomplete mail.
async fn write_to(
    folder: &Path,
    mail: &ClaimedMail,
    now: DateTime<Utc>,
    bytes: &[u8],
) -> std::io::Result<()> {
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

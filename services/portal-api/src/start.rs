//! Wires the service and its commands.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use actix_web::web::Data;
use anyhow::Context as _;
use chassis::{Chassis, Running};
use chrono::TimeDelta;
use domain::{Clock, Email, Entropy, indian_time};
use events::queues;
use identity::Vault;
use identity::passkeys::Passkeys;
use identity::passwords::Passwords;
use identity::second_factors::{FactorSecrets, Factors};
use messaging::Queue;
use outbox::Unit;
use postgres::Database;
use reconciliation::{Report, RunArguments};
use settings::{Environment, Internal, Secret};
use tokio::sync::Notify;
use url::Url;
use web::{FailureLimits, FairSlots};

use crate::audit::domain::Author;
use crate::console::commands::staff;
use crate::console::domain::NewStaff;
use crate::consumers::{GoLiveFactsConsumer, WarningsConsumer};
use crate::domain::FactorPolicy;
use crate::domain::{Links, OperatorActor, OperatorCaller, OperatorRole, Part, RegionFormat, Site};
use crate::live_updates::{OpenPages, OrderStreams, SessionMonitor, StatusStreams};
use crate::mail::{Encryption, MailSender, Mailbox, Route, SmtpServer, Transport};
use crate::pages::Pages;
use crate::peers::Peers;
use crate::settings::{
    CreateOperatorSettings, MailEncryption, MailSettings, MailTransport, PortalSettings, Public,
};
use crate::single_sign_on::providers::{
    BusinessProviders, BusinessProvidersOptions, StaffSignOn, StaffSignOnOptions,
};
use crate::state::{BackgroundTasks, Exports, PublicConfig, State};
use crate::{console, http, reconcile as reconciler, workers};

/// Messages processed at once; each is one short transaction.
const FACTS_PARALLEL: u16 = 8;
const WARNINGS_PARALLEL: u16 = 4;
/// Large responses that are masked at once, each of another business.
const MASKED_AT_ONCE: usize = 2;
/// Longer than the audit log lags behind the other services.
const RECONCILE_PATIENCE: Duration = Duration::from_secs(10);

/// Starts the service.
///
/// # Errors
/// When an address cannot be bound, or a setting is not usable.
pub fn start(settings: &PortalSettings, mut chassis: Chassis) -> anyhow::Result<Running> {
    let state = Arc::new(state(settings, &chassis)?);
    chassis.relay();
    let facts = GoLiveFactsConsumer(state.clone());
    chassis.consume("facts", Queue::shared(queues::FACTS), FACTS_PARALLEL, facts);
    let (broker, updated) = (chassis.broker.clone(), state.clone());
    chassis.worker("news", |stop| workers::consume_live_updates(updated, broker, stop));
    let warnings = WarningsConsumer(state.clone());
    chassis.consume("warnings", Queue::shared(queues::WARNINGS), WARNINGS_PARALLEL, warnings);
    start_workers(&mut chassis, settings, &state)?;
    listen(settings, &mut chassis, &state)?;
    chassis.start(http::internal(Data::from(state), settings.internal.clone()))
}

/// Listens for businesses, and for the operator's staff.
fn listen(settings: &PortalSettings, chassis: &mut Chassis, state: &Arc<State>) -> anyhow::Result<()> {
    let console_url = settings.public.console_url();
    let pages = pages(settings)?;
    let pages_of_console = pages.as_ref().map(|pages| pages.at(console_url));
    let routes = |url: &Url, parts, pages: Option<Pages>| {
        let site = Data::new(Site::new(url.clone(), parts));
        http::of_site(Data::from(state.clone()), site, pages.map(Data::new))
    };
    chassis.listen_public(routes(&settings.public.url, settings.public_parts(), pages))?;
    chassis.listen_operator(routes(console_url, &[Part::Console], pages_of_console))
}

fn state(settings: &PortalSettings, chassis: &Chassis) -> anyhow::Result<State> {
    let unit = chassis.unit.clone();
    let limits = &settings.limits;
    let open_pages = OpenPages::default();
    Ok(State {
        peers: Peers::new(&settings.peers, &settings.internal.token)?,
        passwords: Passwords::new(unit.entropy.clone())?,
        factor_policy: factor_policy(settings),
        factors: factors(settings, &unit)?,
        single_sign_on: single_sign_on(settings, chassis)?,
        business_sso: business_sso(settings, chassis)?,
        mailbox: Arc::new(mailbox(settings, chassis)?),
        user_sessions: settings.sessions.of_users(),
        console_sessions: settings.sessions.of_console(),
        audit_retention: settings.audit.retention(),
        closed_books_kept: settings.closing.books_kept(),
        order_streams: OrderStreams::new(limits.streams_per_business, &open_pages),
        status_streams: StatusStreams::new(limits.streams_per_business, &open_pages),
        open_pages,
        session_monitor: Arc::new(SessionMonitor::default()),
        tasks: chassis.tasks.clone(),
        background: BackgroundTasks::new(chassis.tasks.clone()),
        exports: Exports::default(),
        export_waiting: Notify::new(),
        masking: FairSlots::new(MASKED_AT_ONCE, 1),
        links: links(&settings.public),
        limit_per_address: limits.per_address,
        trusted_proxies: limits.trusted_proxies.clone(),
        failure_limits: FailureLimits::new(
            limits.per_address.then_some(limits.failed_authentications),
            limits.trusted_proxies.clone(),
            &unit.clock,
        ),
        publisher: chassis.broker.publisher(),
        plans: settings.subscription.plan_names(),
        operator_tokens: settings.operator.tokens(),
        approvals: settings.approvals.policy(),
        secure_cookies: settings.environment != Environment::Local,
        public_config: PublicConfig {
            brand: settings.brand.clone(),
            locale: settings.region.locale,
            time_zone: settings.region.time_zone.clone(),
            api_url: settings.public.api_url.clone(),
            webhook_addresses: settings.public.webhook_addresses.texts().collect(),
            attempt_events: settings.events.attempts,
        },
        unit,
    })
}

fn links(public: &Public) -> Links {
    Links::new(public.url.clone()).with_console(public.console_url().clone())
}

fn factors(settings: &PortalSettings, unit: &Unit) -> anyhow::Result<Factors> {
    let secrets = FactorSecrets::new((settings.mfa.key.as_ref(), settings.mfa.previous_key.as_ref()))?;
    let public = &settings.public;
    let passkeys = Passkeys::new(&settings.brand.name, &public.url, public.console_url())?;
    Ok(Factors::new(unit.clock.clone(), unit.entropy.clone(), secrets, passkeys))
}

fn factor_policy(settings: &PortalSettings) -> FactorPolicy {
    let mfa = &settings.mfa;
    FactorPolicy {
        required_for_users: mfa.user_roles(),
        required_for_staff: mfa.staff_roles(),
        recent_within: mfa
            .recent_minutes(settings.environment)
            .map(|minutes| TimeDelta::minutes(minutes.into())),
    }
}

/// `None` without an issuer. The other settings were checked.
fn single_sign_on(settings: &PortalSettings, chassis: &Chassis) -> anyhow::Result<Option<StaffSignOn>> {
    let sso = &settings.sso;
    let Some(issuer) = &sso.issuer else { return Ok(None) };
    let options = StaffSignOnOptions {
        issuer,
        client_id: sso.client_id.as_deref().context("WAYBILL_SSO__CLIENT_ID is required")?,
        client_secret: sso.client_secret.as_ref().context("WAYBILL_SSO__CLIENT_SECRET is required")?,
        redirect_url: links(&settings.public).console_page("operator/sso"),
        scopes: &sso.scopes,
        groups_claim: sso.groups_claim.clone(),
        roles: sso.group_roles(),
        label: sso.label.trim().to_owned(),
        allows_passwords: sso.password_log_in,
        allow_plain_http: settings.environment == Environment::Local,
    };
    StaffSignOn::new(options, &chassis.unit.clock).map(Some)
}

fn business_sso(settings: &PortalSettings, chassis: &Chassis) -> anyhow::Result<BusinessProviders> {
    let options = BusinessProvidersOptions {
        enabled: settings.business_sso.enabled,
        keys: (settings.mfa.key.as_ref(), settings.mfa.previous_key.as_ref()),
        policy: settings.business_sso.policy(),
        name_servers: &settings.business_sso.name_servers,
        links: links(&settings.public),
    };
    BusinessProviders::new(options, &chassis.unit.clock)
}

fn mailbox(settings: &PortalSettings, chassis: &Chassis) -> anyhow::Result<Mailbox> {
    let zone = settings.region.zone().context("WAYBILL_REGION__TIME_ZONE is not a time zone")?;
    Ok(Mailbox {
        is_enabled: settings.mail.is_enabled(),
        brand: settings.brand.clone(),
        links: links(&settings.public),
        region: RegionFormat { locale: settings.region.locale, zone },
        vault: link_vault(&settings.internal)?,
        entropy: chassis.unit.entropy.clone(),
        queued: Arc::new(Notify::new()),
    })
}

/// The key for links in queued mails comes from the token that this service sends. The tokens that its callees accept from
/// it decrypt too, so that mails survive a change of the token.
fn link_vault(internal: &Internal) -> anyhow::Result<Vault> {
    let accepted = internal.callers.portal_api.as_ref().map_or("", Secret::expose);
    let others: Vec<Secret> = settings::comma_separated_parts(accepted).map(Secret::new).collect();
    Vault::with_others(&internal.token, &others, "waybill secrets of links in mails")
}

fn start_workers(chassis: &mut Chassis, settings: &PortalSettings, state: &Arc<State>) -> anyhow::Result<()> {
    if let Some(route) = mail_route(&settings.mail)? {
        let host = settings.public.url.host_str().unwrap_or("localhost").to_owned();
        let transport = Transport::new(route, &settings.mail.from, host)?;
        let sender = MailSender::new(state.unit.clone(), state.mailbox.clone(), transport);
        chassis.worker("send-mails", |stop| workers::send_mails(sender, stop));
    }
    let shared = state.clone();
    chassis.worker("write-exports", |stop| workers::write_exports(shared, stop));
    let shared = state.clone();
    chassis.every("check-sessions", workers::SESSION_CHECK_INTERVAL, move |_| {
        workers::check_sessions(shared.clone())
    });
    let shared = state.clone();
    chassis.every("prune", workers::PRUNE_INTERVAL, move |_| workers::prune(shared.clone()));
    Ok(())
}

fn mail_route(settings: &MailSettings) -> anyhow::Result<Option<Route>> {
    Ok(match settings.transport {
        MailTransport::None => None,
        MailTransport::Folder => {
            Some(Route::Folder(settings.folder.clone().context("WAYBILL_MAIL__FOLDER is required")?))
        }
        MailTransport::Smtp => Some(Route::Smtp(SmtpServer {
            host: settings.host.clone().context("WAYBILL_MAIL__HOST is required")?,
            port: settings.port,
            encryption: match settings.encryption {
                MailEncryption::Tls => Encryption::Tls,
                MailEncryption::Starttls => Encryption::Starttls,
                MailEncryption::None => Encryption::None,
            },
            credentials: settings.user.clone().zip(settings.password.clone()),
        })),
    })
}

fn pages(settings: &PortalSettings) -> anyhow::Result<Option<Pages>> {
    let Some(folder) = &settings.pages.folder else { return Ok(None) };
    let payment_origins: Vec<&str> = settings.pages.payment_origins().collect();
    let pages = Pages::load(folder, &settings.public.url, &payment_origins)?;
    if pages.is_none() {
        tracing::warn!("no pages are served: WAYBILL_PAGES__FOLDER contains no index.html");
    }
    Ok(pages)
}

/// The arguments of `portal-api create-operator`.
#[derive(clap::Args)]
pub struct CreateOperator {
    /// The person's e-mail address, for the log-in
    #[arg(long, value_parser = |text: &str| Email::parse(text).ok_or("expected an e-mail address"))]
    email: Email,
    /// The person's name
    #[arg(long, value_parser = name)]
    name: String,
}

fn name(text: &str) -> Result<String, String> {
    let name =
        console::routes::staff::NAME.check(text).map_err(|error| format!("the name {}", error.message))?;
    name.map(str::to_owned).ok_or_else(|| "the name is empty".to_owned())
}

/// Runs `portal-api create-operator` and prints the link to `out`.
///
/// # Errors
/// When the account exists already, or the database is unreachable.
pub fn create_operator(arguments: CreateOperator, out: &mut impl Write) -> anyhow::Result<()> {
    let CreateOperator { email, name } = arguments;
    let new = NewStaff { name, email, role: OperatorRole::Administrator };
    chassis::command(async |settings: &CreateOperatorSettings| {
        let entropy = Entropy::from_system().context("the operating system provides no randomness")?;
        let database = Database::new(&settings.database)?;
        let author = Author::operator(OperatorCaller { actor: OperatorActor::Command, address: None }, None);
        let issued = staff::invite(&database, (&Clock::system(), &entropy), &author, new).await?;
        let link = links(&settings.public).staff_password(&issued.token);
        let end = indian_time(issued.expires_at).format("%-d %B %Y, %H:%M IST");
        writeln!(out, "Open this link once, before {end}, to set the password:")?;
        Ok(writeln!(out, "{link}")?)
    })
}

/// Runs `portal-api reconcile` and prints to `out`.
pub fn reconcile(arguments: RunArguments, out: &mut impl Write) -> ExitCode {
    let outcome = chassis::command(async |settings: &PortalSettings| {
        let peers = Peers::new(&settings.peers, &settings.internal.token)?;
        let database = Database::new(&settings.database)?;
        Ok(reconciler::run(database, peers, arguments.patience(RECONCILE_PATIENCE)).await?)
    });
    Report::conclude(outcome, arguments.json, out)
}

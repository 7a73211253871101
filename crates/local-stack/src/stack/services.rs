//! The services as child processes: environment, migrations and start.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use anyhow::{Context, ensure};
use rustix::process::Signal;
use tokio::process::Command;
use tokio::time::timeout;
use url::Url;

use super::options::{Detour, Link};
use super::saved_state::{SavedState, ServicePorts};
use crate::http;
use crate::launch::Launch;
use crate::part::{Part, Service};
use crate::paths;
use crate::ports::loopback;
use crate::supervised::{Listener, StopProcedure, Supervised};
use crate::test_servers::TestServers;

const MIGRATION_LIMIT: Duration = Duration::from_secs(120);
const RUN_LIMIT: Duration = Duration::from_secs(180);
const READY_LIMIT: Duration = Duration::from_secs(60);
/// The time for a service to finish the work it has accepted.
const STOP_GRACE: Duration = Duration::from_secs(25);
/// The directory of the portal's mails, in the stack's directory.
pub(super) const MAILS: &str = "mails";

/// The addresses of the servers.
#[derive(Clone, Debug)]
pub(super) struct Backends {
    pub(super) databases: BTreeMap<Service, String>,
    pub(super) broker: String,
}

/// A supervised service.
pub(super) struct RunningService {
    pub(super) process: Supervised,
    ports: ServicePorts,
}

impl RunningService {
    /// Waits until the service is ready, across restarts.
    pub(super) async fn ready(&self) -> anyhow::Result<()> {
        self.process.ready(READY_LIMIT, async || is_ready(self.ports).await).await
    }

    pub(super) async fn first_ready(&self) -> anyhow::Result<()> {
        self.process.first_ready(READY_LIMIT, async || is_ready(self.ports).await).await
    }
}

async fn is_ready(ports: ServicePorts) -> bool {
    http::responds_ok(ports.management, "/health/ready").await
}

/// Migrates a service's database.
pub(crate) async fn migrate(launch: &Launch, service: Service) -> anyhow::Result<()> {
    let name = service.name();
    let migration = launch.clone().argument("migrate");
    let mut command = Command::from(migration.logged_command()?);
    command.kill_on_drop(true);
    let status = timeout(MIGRATION_LIMIT, command.status())
        .await
        .with_context(|| format!("`{name} migrate` took longer than {} s", MIGRATION_LIMIT.as_secs()))?
        .with_context(|| format!("starting `{name} migrate`"))?;
    ensure!(status.success(), "`{name} migrate` failed ({status}); {}", migration.log_tail());
    Ok(())
}

/// Runs the program until it ends and returns its output.
pub(super) async fn run(launch: &Launch, service: Service, arguments: &[&str]) -> anyhow::Result<Output> {
    let name = service.name();
    let launch = arguments.iter().fold(launch.clone(), |launch, argument| launch.argument(argument));
    let mut command = Command::from(launch.command());
    command.kill_on_drop(true);
    timeout(RUN_LIMIT, command.output())
        .await
        .with_context(|| format!("`{name} {arguments:?}` took longer than {} s", RUN_LIMIT.as_secs()))?
        .with_context(|| format!("starting `{name} {arguments:?}`"))
}

/// Starts a service without waiting until it is ready.
pub(super) fn start(
    launch: Launch,
    service: Service,
    ports: ServicePorts,
    listener: Listener,
) -> anyhow::Result<RunningService> {
    let stop_procedure = StopProcedure { signal: Signal::TERM, grace: STOP_GRACE, at_once: Signal::KILL };
    let process = Supervised::start(service.name(), launch.argument("serve"), stop_procedure, listener)?;
    Ok(RunningService { process, ports })
}

/// The service's program with its environment, without arguments.
pub(super) fn launch(
    service: Service,
    program: &Path,
    directory: &Path,
    kept: &SavedState,
    backends: &Backends,
    detour: &Detour,
) -> anyhow::Result<Launch> {
    let log = directory.join(format!("logs/{}.log", service.name()));
    let database = backends.databases.get(&service).context("each service has a database")?;
    let database = with_detour(detour, Link { from: service, to: Part::Postgres }, database)?;
    let broker = with_detour(detour, Link { from: service, to: Part::RabbitMq }, &backends.broker)?;
    let ports = kept.ports.of(service)?;
    let launch = Launch::new(program, &log)
        .without(TestServers::VARIABLE)
        .variable("WAYBILL_DATABASE__URL", database)
        .variable("WAYBILL_BROKER__URL", broker)
        .variable("WAYBILL_INTERNAL__TOKEN", &kept.secrets.internal_token)
        .variable("WAYBILL_TELEMETRY__FORMAT", "json")
        // As in the container images (deploy/images/build.sh).
        .variable("MALLOC_MMAP_THRESHOLD_", "1048576");
    let mut launch = listening(launch, ports);
    if let Some(public) = ports.public {
        launch = launch.variable("WAYBILL_PUBLIC__URL", format!("http://127.0.0.1:{public}"));
    }
    for peer in Service::ALL {
        let internal = detour(Link { from: service, to: peer.into() }, kept.ports.of(peer)?.internal)?;
        launch = launch.variable(&peer.peer_variable(), format!("http://127.0.0.1:{internal}"));
    }
    own_settings(service, directory, kept, launch)
}

/// Sets the addresses of a program's listeners.
pub(super) fn listening(launch: Launch, ports: ServicePorts) -> Launch {
    let launch = launch
        .variable("WAYBILL_HTTP__INTERNAL", loopback(ports.internal).to_string())
        .variable("WAYBILL_HTTP__MANAGEMENT", loopback(ports.management).to_string());
    [("WAYBILL_HTTP__PUBLIC", ports.public), ("WAYBILL_HTTP__OPERATOR", ports.operator)]
        .into_iter()
        .filter_map(|(variable, port)| Some((variable, port?)))
        .fold(launch, |launch, (variable, port)| launch.variable(variable, loopback(port).to_string()))
}

/// Replaces the port of a URL by the detour's port.
fn with_detour(detour: &Detour, link: Link, url: &str) -> anyhow::Result<String> {
    let mut url = Url::parse(url)?;
    let port = url.port().context("the URL of a server names its port")?;
    ensure!(url.set_port(Some(detour(link, port)?)).is_ok(), "the URL of a server takes a port");
    Ok(url.into())
}

/// The settings of a single service.
fn own_settings(
    service: Service,
    directory: &Path,
    kept: &SavedState,
    launch: Launch,
) -> anyhow::Result<Launch> {
    let launch = match service {
        Service::OrderApi => {
            let portal =
                kept.ports.of(Service::PortalApi)?.public.context("portal-api has a public listener")?;
            let launch = launch
                .variable("WAYBILL_FLEET__TOKEN", &kept.secrets.fleet_token)
                .variable("WAYBILL_LIMITS__REQUESTS_PER_SECOND", "2000")
                .variable("WAYBILL_LIMITS__PER_ADDRESS", "false")
                .variable("WAYBILL_PUBLIC__PORTAL_URL", format!("http://127.0.0.1:{portal}"));
            let folders = [
                ("WAYBILL_DOCS__DOWNLOADS", paths::packed_clients()),
                ("WAYBILL_DOCS__SITE", paths::built_docs()),
            ];
            let built = folders.into_iter().filter_map(|(name, folder)| Some((name, folder?)));
            built.fold(launch, |launch, (name, folder)| launch.variable(name, folder))
        }
        Service::PortalApi => portal_settings(directory, kept, launch)?,
        Service::WebhookDispatcher => launch
            .variable("WAYBILL_WEBHOOKS__ALLOW_HTTP", "true")
            .variable("WAYBILL_WEBHOOKS__ALLOWED_RANGES", "127.0.0.0/8"),
        Service::KeyManagement | Service::Wallet => launch,
    };
    Ok(launch)
}

/// The portal shows the integrators' base URL, writes its mails into a directory, and serves its pages if they are
/// built. The operator's console and API are also at its public listener.
fn portal_settings(directory: &Path, kept: &SavedState, launch: Launch) -> anyhow::Result<Launch> {
    let integration = kept.ports.of(Service::OrderApi)?.public.context("order-api has a public listener")?;
    let console = kept.ports.of(Service::PortalApi)?.operator.context("portal-api has a console")?;
    let launch = launch
        .variable("WAYBILL_OPERATOR__TOKEN", &kept.secrets.operator_token)
        .variable("WAYBILL_OPERATOR__ON_PUBLIC_LISTENER", "true")
        .variable("WAYBILL_PUBLIC__CONSOLE_URL", format!("http://127.0.0.1:{console}"))
        .variable("WAYBILL_LIMITS__PER_ADDRESS", "false")
        .variable("WAYBILL_MAIL__TRANSPORT", "folder")
        .variable("WAYBILL_MAIL__FOLDER", directory.join(MAILS))
        .variable("WAYBILL_MFA__KEY", "local-key-of-second-factors")
        .variable("WAYBILL_BUSINESS_SSO__ENABLED", "true")
        .variable("WAYBILL_BUSINESS_SSO__ALLOW_HTTP", "true")
        .variable("WAYBILL_BUSINESS_SSO__ALLOWED_RANGES", "127.0.0.0/8")
        .variable("WAYBILL_PUBLIC__WEBHOOK_ADDRESSES", "127.0.0.1,::1")
        .variable("WAYBILL_PUBLIC__API_URL", format!("http://127.0.0.1:{integration}/v1"));
    Ok(match paths::built_pages() {
        Some(folder) => launch.variable("WAYBILL_PAGES__FOLDER", folder),
        None => launch,
    })
}

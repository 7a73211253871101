//! The steps of a start, in order.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use domain::Entropy;
use futures_util::future::try_join_all;

use super::file::{Content, StackFile};
use super::lock::Lock;
use super::options::{StackOptions, StackServers};
use super::saved_state::SavedState;
use super::services::{self, Backends, RunningService};
use super::{Progress, Stack};
use crate::launch::Launch;
use crate::part::Service;
use crate::paths;
use crate::postgres::{Postgres, PostgresOptions};
use crate::rabbitmq::{RabbitMq, RabbitMqOptions};
use crate::supervised::{Listener, Notice};
use crate::test_servers::TestServers;

pub(super) async fn start(options: StackOptions) -> anyhow::Result<Stack> {
    let StackOptions { directory, servers, variables, programs, listener, progress, detour } = options;
    paths::stack_directory(&directory)?;
    let lock = Lock::take(&directory)?;
    rotate_logs(&directory)?;
    let kept = SavedState::load_or_make(&directory, &Entropy::from_system()?)?;
    let file = Arc::new(StackFile::new(directory.join("stack.json"))?);
    let listener = recording(&file, listener);

    // Copies of templates have tables already. Programs of other releases create their own.
    let has_tables = matches!(servers, StackServers::Shared(_)) && programs.is_empty();
    let (postgres, rabbitmq, backends) = match servers {
        StackServers::Own { survives_power_cuts } => {
            let (postgres, rabbitmq) =
                start_servers(&directory, &kept, survives_power_cuts, &listener, &progress).await?;
            let backends = own_backends(&postgres, &rabbitmq, &kept).await?;
            (Some(postgres), Some(rabbitmq), backends)
        }
        StackServers::Shared(servers) => (None, None, shared_backends(servers, has_tables).await?),
    };
    let mut stack = Stack {
        services: BTreeMap::new(),
        rabbitmq,
        postgres,
        launches: BTreeMap::new(),
        kept: Mutex::new(kept.clone()),
        backends,
        file,
        progress,
        directory,
        is_for_a_test: false,
        _lock: lock,
    };

    let mut launches = BTreeMap::new();
    for service in Service::ALL {
        let program = programs.get(&service).cloned();
        let program = program.map_or_else(|| paths::built_program(service.name()), Ok)?;
        let launch = services::launch(service, &program, &stack.directory, &kept, &stack.backends, &detour)?;
        let own = variables.iter().filter(|(whose, _, _)| *whose == service);
        launches.insert(service, own.fold(launch, |launch, (_, name, value)| launch.variable(name, value)));
    }
    if !has_tables {
        migrate(&launches, &stack.progress).await?;
    }
    stack.launches.clone_from(&launches);
    stack.services = start_services(launches, &kept, &listener, &stack.progress).await?;
    stack.file.describe(content(&stack));
    stack.file.publish()?;
    Ok(stack)
}

/// Rotates the logs and keeps one previous log per part.
fn rotate_logs(directory: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(directory.join("logs"))? {
        let log = entry?.path();
        if log.extension().is_some_and(|extension| extension == "log") {
            fs::rename(&log, log.with_extension("log.1"))?;
        }
    }
    Ok(())
}

/// A listener that updates `stack.json` and then forwards the notice.
fn recording(file: &Arc<StackFile>, listener: Listener) -> Listener {
    let file = Arc::clone(file);
    Arc::new(move |notice| {
        if let Err(error) = file.note(notice) {
            let name = "stack.json".to_owned();
            listener(&Notice::Failed { name, why: format!("{error:#}") });
        }
        listener(notice);
    })
}

async fn start_servers(
    directory: &Path,
    kept: &SavedState,
    survives_power_cuts: bool,
    listener: &Listener,
    progress: &Progress,
) -> anyhow::Result<(Postgres, RabbitMq)> {
    let postgres = PostgresOptions {
        directory: directory.to_owned(),
        port: kept.ports.postgres,
        password: kept.secrets.postgres.clone(),
        survives_power_cuts,
        language: None,
    };
    let rabbitmq = RabbitMqOptions {
        directory: directory.to_owned(),
        ports: kept.ports.rabbitmq,
        password: kept.secrets.rabbitmq.clone(),
    };
    progress("Starting PostgreSQL and RabbitMQ");
    let postgres = async {
        let server = Postgres::start(&postgres, listener.clone()).await?;
        progress("PostgreSQL is ready");
        anyhow::Ok(server)
    };
    let rabbitmq = async {
        let server = RabbitMq::start(&rabbitmq, listener.clone()).await?;
        progress("RabbitMQ is ready");
        anyhow::Ok(server)
    };
    tokio::try_join!(postgres, rabbitmq)
}

async fn own_backends(
    postgres: &Postgres,
    rabbitmq: &RabbitMq,
    kept: &SavedState,
) -> anyhow::Result<Backends> {
    let mut databases = BTreeMap::new();
    for service in Service::ALL {
        let password = kept.secrets.of_database(service)?;
        databases.insert(service, postgres.create_database(service.database(), password).await?);
    }
    Ok(Backends { databases, broker: rabbitmq.url() })
}

async fn shared_backends(servers: &TestServers, with_tables: bool) -> anyhow::Result<Backends> {
    let databases = Service::ALL.map(async |service| {
        let database = if with_tables {
            servers.create_database_of(service).await?
        } else {
            servers.create_database().await?
        };
        anyhow::Ok((service, database))
    });
    let (databases, broker) = tokio::try_join!(try_join_all(databases), servers.create_vhost())?;
    Ok(Backends { databases: databases.into_iter().collect(), broker })
}

async fn migrate(launches: &BTreeMap<Service, Launch>, progress: &Progress) -> anyhow::Result<()> {
    progress("Migrating the databases");
    try_join_all(launches.iter().map(|(service, launch)| services::migrate(launch, *service))).await?;
    Ok(())
}

/// Starts all services at once and then waits for each: they depend on each other only when there is work.
async fn start_services(
    launches: BTreeMap<Service, Launch>,
    kept: &SavedState,
    listener: &Listener,
    progress: &Progress,
) -> anyhow::Result<BTreeMap<Service, Arc<RunningService>>> {
    progress("Starting the services");
    let mut running = BTreeMap::new();
    for (service, launch) in launches {
        running.insert(
            service,
            Arc::new(services::start(launch, service, kept.ports.of(service)?, listener.clone())?),
        );
    }
    for (service, running) in &running {
        running.first_ready().await?;
        progress(&format!("{} is ready", service.name()));
    }
    Ok(running)
}

fn content(stack: &Stack) -> Content {
    Content {
        order_api: stack.order_api(),
        portal_api: stack.portal_api(),
        // The portal's API serves its pages too.
        portal_web: stack.portal_api(),
        operator_console: stack.operator_console(),
        management: Service::ALL
            .into_iter()
            .map(|service| (service.name(), stack.management_url(service)))
            .collect(),
        fleet_token: stack.fleet_token(),
        operator_token: stack.operator_token(),
        databases: stack
            .backends
            .databases
            .iter()
            .map(|(service, url)| (service.name(), url.clone()))
            .collect(),
        broker: stack.broker_url().to_owned(),
        mails: stack.mails(),
        pids: BTreeMap::new(),
        demo: stack.demo(),
    }
}

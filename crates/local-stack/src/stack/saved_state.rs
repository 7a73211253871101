//! The persistent state of a stack besides its data: ports, secrets, and the demo's account.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow};
use domain::Entropy;
use serde::{Deserialize, Serialize};

use crate::part::Service;
use crate::paths;
use crate::ports;
use crate::rabbitmq::RabbitMqPorts;

const FILE: &str = "kept.json";

/// The account of the demo, so that a later run can use it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Demo {
    pub email: String,
    pub password: String,
    pub test_key: String,
    pub live_key: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SavedState {
    pub(super) secrets: Secrets,
    pub(super) ports: Ports,
    pub(super) demo: Option<Demo>,
}

/// Generated at the first start. Passwords are part of the servers' data from then on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Secrets {
    pub(super) postgres: String,
    pub(super) rabbitmq: String,
    pub(super) databases: BTreeMap<String, String>,
    pub(super) internal_token: String,
    pub(super) fleet_token: String,
    pub(super) operator_token: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ports {
    pub(super) postgres: u16,
    pub(super) rabbitmq: RabbitMqPorts,
    pub(super) services: BTreeMap<String, ServicePorts>,
}

/// The ports of one service, as in the settings' `http` section.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct ServicePorts {
    pub(super) public: Option<u16>,
    pub(super) operator: Option<u16>,
    pub(super) internal: u16,
    pub(super) management: u16,
}

impl SavedState {
    /// Loads the state of the last run and replaces ports that are taken now. Generates everything on the first run.
    pub(super) fn load_or_make(directory: &Path, entropy: &Entropy) -> anyhow::Result<Self> {
        let path = directory.join(FILE);
        let kept = match fs::read(&path) {
            Ok(bytes) => {
                let mut kept: Self = serde_json::from_slice(&bytes).with_context(|| {
                    format!("{} is invalid; `make reset` deletes it and the data", path.display())
                })?;
                kept.ports = kept.ports.still_free(entropy)?;
                kept
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Self { secrets: Secrets::new(entropy), ports: Ports::new(entropy)?, demo: None }
            }
            Err(error) => return Err(error).with_context(|| format!("reading {}", path.display())),
        };
        kept.save(directory)?;
        Ok(kept)
    }

    pub(super) fn save(&self, directory: &Path) -> anyhow::Result<()> {
        paths::write_private(&directory.join(FILE), &serde_json::to_vec_pretty(self)?)
    }
}

impl Secrets {
    /// The password of a database's role, generated on first use.
    pub(super) fn of_other_database(&mut self, name: &str) -> anyhow::Result<String> {
        if let Some(password) = self.databases.get(name) {
            return Ok(password.clone());
        }
        let password = format!("{:032x}", Entropy::from_system()?.u128());
        self.databases.insert(name.to_owned(), password.clone());
        Ok(password)
    }

    fn new(entropy: &Entropy) -> Self {
        let secret = || format!("{:032x}", entropy.u128());
        Self {
            postgres: secret(),
            rabbitmq: secret(),
            databases: Service::ALL.iter().map(|service| (service.name().to_owned(), secret())).collect(),
            internal_token: secret(),
            fleet_token: secret(),
            operator_token: secret(),
        }
    }

    pub(super) fn of_database(&self, service: Service) -> anyhow::Result<&str> {
        let secret = self.databases.get(service.name());
        secret.map(String::as_str).ok_or_else(|| anyhow!("no secret for {}", service.name()))
    }
}

impl ServicePorts {
    pub(super) fn free(service: Service, entropy: &Entropy) -> anyhow::Result<Self> {
        let free_if = |has: bool| has.then(|| ports::free(entropy)).transpose();
        Ok(Self {
            public: free_if(service.is_public())?,
            operator: free_if(service == Service::PortalApi)?,
            internal: ports::free(entropy)?,
            management: ports::free(entropy)?,
        })
    }

    /// Releases them after nothing listens any more.
    pub(super) fn release(self) {
        [self.public.unwrap_or_default(), self.operator.unwrap_or_default(), self.internal, self.management]
            .into_iter()
            .for_each(ports::release);
    }
}

impl Ports {
    fn new(entropy: &Entropy) -> anyhow::Result<Self> {
        let services = Service::ALL
            .iter()
            .map(|service| Ok((service.name().to_owned(), ServicePorts::free(*service, entropy)?)));
        Ok(Self {
            services: services.collect::<anyhow::Result<_>>()?,
            postgres: ports::free(entropy)?,
            rabbitmq: RabbitMqPorts::free(entropy)?,
        })
    }

    /// Keeps ports where possible, so that addresses stay valid.
    fn still_free(self, entropy: &Entropy) -> anyhow::Result<Self> {
        let again = |port| ports::remembered_or_free(port, entropy);
        let services = self.services.into_iter().map(|(name, old)| {
            let mut operator = old.operator.map(again).transpose()?;
            if name == Service::PortalApi.name() && operator.is_none() {
                operator = Some(ports::free(entropy)?);
            }
            let public = old.public.map(again).transpose()?;
            let internal = again(old.internal)?;
            Ok((name, ServicePorts { public, operator, internal, management: again(old.management)? }))
        });
        let rabbitmq = RabbitMqPorts {
            amqp: again(self.rabbitmq.amqp)?,
            distribution: again(self.rabbitmq.distribution)?,
            epmd: again(self.rabbitmq.epmd)?,
        };
        let services = services.collect::<anyhow::Result<_>>()?;
        Ok(Self { services, rabbitmq, postgres: again(self.postgres)? })
    }

    pub(super) fn of(&self, service: Service) -> anyhow::Result<ServicePorts> {
        let ports = self.services.get(service.name()).copied();
        ports.ok_or_else(|| anyhow!("no ports for {}", service.name()))
    }

    /// Releases all ports after nothing listens any more.
    pub(super) fn release(&self) {
        self.services.values().for_each(|ports| ports.release());
        let RabbitMqPorts { amqp, distribution, epmd } = self.rabbitmq;
        [self.postgres, amqp, distribution, epmd].into_iter().for_each(ports::release);
    }
}

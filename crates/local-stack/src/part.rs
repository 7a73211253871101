//! The parts of a stack and their names.

/// A service of this workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Service {
    KeyManagement,
    Wallet,
    PortalApi,
    OrderApi,
    WebhookDispatcher,
}

impl Service {
    pub const ALL: [Self; 5] =
        [Self::KeyManagement, Self::Wallet, Self::PortalApi, Self::OrderApi, Self::WebhookDispatcher];

    /// The name of its program and its key in `stack.json`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::KeyManagement => "key-management",
            Self::Wallet => "wallet",
            Self::PortalApi => "portal-api",
            Self::OrderApi => "order-api",
            Self::WebhookDispatcher => "webhook-dispatcher",
        }
    }

    /// The name of its database and of its role.
    pub(crate) const fn database(self) -> &'static str {
        match self {
            Self::KeyManagement => "key_management",
            Self::Wallet => "wallet",
            Self::PortalApi => "portal_api",
            Self::OrderApi => "order_api",
            Self::WebhookDispatcher => "webhook_dispatcher",
        }
    }

    /// Its variable in the settings of its callers (`WAYBILL_PEERS__…`).
    pub(crate) fn peer_variable(self) -> String {
        format!("WAYBILL_PEERS__{}", self.database().to_uppercase())
    }

    /// Whether it has a public listener.
    pub const fn is_public(self) -> bool {
        matches!(self, Self::OrderApi | Self::PortalApi)
    }
}

/// A process of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Postgres,
    RabbitMq,
    Service(Service),
}

impl Part {
    /// Its key among the process ids in `stack.json`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::RabbitMq => "rabbitmq",
            Self::Service(service) => service.name(),
        }
    }

    /// Finds a part by its name.
    pub fn named(name: &str) -> Option<Self> {
        let services = Service::ALL.into_iter().map(Self::Service);
        [Self::Postgres, Self::RabbitMq].into_iter().chain(services).find(|part| part.name() == name)
    }
}

impl From<Service> for Part {
    fn from(service: Service) -> Self {
        Self::Service(service)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_found_by_its_name() {
        for service in Service::ALL {
            assert_eq!(Part::named(service.name()), Some(Part::Service(service)));
        }
        assert_eq!(Part::named("rabbitmq"), Some(Part::RabbitMq));
        assert_eq!(Part::named("epmd"), None);
    }
}

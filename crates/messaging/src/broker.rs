//! What a service holds of the broker.

use std::sync::Arc;

use lapin::uri::{AMQPScheme, AMQPUri};

use crate::error::BrokerError;
use crate::link::Link;
use crate::publisher::Publisher;
use crate::{Queue, declare};

/// The broker, over one connection for publishing and one for consuming, so that a broker that slows publishers down
/// does not slow the acknowledgements with them. Both come back by themselves. Clones share them.
#[derive(Clone)]
pub struct Broker {
    publisher: Publisher,
    consuming: Arc<Link>,
}

/// What a shared queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Messages that no consumer has been given yet.
    pub ready: u32,
    pub dead_letters: u32,
}

/// What is at the mercy of the network on the way to the broker, in words; `None` on this machine, and where TLS proves who
/// answers. For a warning: what is wrong with the URL is told elsewhere.
pub fn exposure(settings: &settings::Broker) -> Option<&'static str> {
    let uri: AMQPUri = settings.url.expose().parse().ok()?;
    let is_safe = uri.scheme == AMQPScheme::AMQPS || settings::is_this_machine(&uri.authority.host);
    (!is_safe).then_some("may be read and changed on its way")
}

impl Broker {
    /// Begins to connect, and keeps connecting. `service` names the connections in the broker's own listings.
    /// Needs a tokio runtime.
    pub fn start(settings: &settings::Broker, service: &'static str) -> Self {
        let publishing = Arc::new(Link::start(settings, service, "publishing"));
        let consuming = Arc::new(Link::start(settings, service, "consuming"));
        Self { publisher: Publisher::new(publishing), consuming }
    }

    /// Whether both connections stand and the broker takes messages, for readiness. Asks nobody.
    ///
    /// # Errors
    /// [`BrokerError::Unavailable`].
    pub async fn check(&self) -> Result<(), BrokerError> {
        for link in [self.publisher.link(), &*self.consuming] {
            let Some(live) = link.current() else {
                return Err(link.why_not());
            };
            if live.connection().status().blocked() {
                return Err(BrokerError::Unavailable("the broker is out of memory or disk space".into()));
            }
        }
        Ok(())
    }

    /// What a shared queue holds at this moment.
    ///
    /// # Errors
    /// When there is no connection, or no such queue.
    pub async fn backlog(&self, queue: &Queue) -> Result<Backlog, BrokerError> {
        let live = self.consuming.connected().await?;
        let ready = declare::count(live.connection(), queue.name()).await?;
        let dead_letters = declare::count(live.connection(), &queue.dead_letters()).await?;
        Ok(Backlog { ready, dead_letters })
    }

    pub fn publisher(&self) -> Publisher {
        self.publisher.clone()
    }

    /// Takes leave of the broker, within 5 s. Stop the consumers and the relay first.
    pub async fn close(&self) {
        tokio::join!(self.publisher.close(), self.consuming.close());
    }

    pub(crate) fn consuming(&self) -> &Link {
        &self.consuming
    }
}

#[cfg(test)]
mod tests {
    use settings::Secret;

    use super::*;

    #[test]
    fn only_what_leaves_this_machine_is_exposed() {
        for (url, is_exposed) in [
            ("amqp://u:p@127.0.0.1:5672/v", false),
            ("amqp://u:p@localhost/v", false),
            ("amqp://u:p@rabbitmq:5672/v", true),
            ("amqps://u:p@rabbitmq:5671/v", false),
        ] {
            assert_eq!(exposure(&settings::Broker::new(Secret::new(url))).is_some(), is_exposed, "{url}");
        }
    }
}

//! A service's access to the broker.

use std::sync::Arc;

use lapin::uri::{AMQPScheme, AMQPUri};

use crate::error::BrokerError;
use crate::link::Link;
use crate::publisher::Publisher;
use crate::{Queue, declare};

/// The broker, with one connection for publishing and one for consuming: when the broker throttles publishers, it does
/// not throttle acknowledgements. Both reconnect automatically. Clones share them.
#[derive(Clone)]
pub struct Broker {
    publisher: Publisher,
    consuming: Arc<Link>,
}

/// The content of a shared queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Messages that were not delivered to a consumer yet.
    pub ready: u32,
    pub dead_letters: u32,
}

/// The network risk of the broker connection; `None` on this machine and with verified TLS. For a warning: the settings
/// check reports an invalid URL.
pub fn exposure(settings: &settings::Broker) -> Option<&'static str> {
    let uri: AMQPUri = settings.url.expose().parse().ok()?;
    let is_safe = uri.scheme == AMQPScheme::AMQPS || settings::is_this_machine(&uri.authority.host);
    (!is_safe).then_some("can be read and changed on the network")
}

impl Broker {
    /// Starts to connect, and reconnects when needed. `service` is the connections' name in the broker's lists. Needs a
    /// tokio runtime.
    pub fn start(settings: &settings::Broker, service: &'static str) -> Self {
        let publishing = Arc::new(Link::start(settings, service, "publishing"));
        let consuming = Arc::new(Link::start(settings, service, "consuming"));
        Self { publisher: Publisher::new(publishing), consuming }
    }

    /// Whether both connections are open and the broker accepts messages, for readiness. Sends nothing.
    ///
    /// # Errors
    /// Why not.
    pub async fn check(&self) -> Result<(), BrokerError> {
        for link in [self.publisher.link(), &*self.consuming] {
            let Some(live) = link.current() else {
                return Err(link.last_error());
            };
            if live.connection().status().blocked() {
                return Err(BrokerError::Unavailable("the broker is out of memory or disk space".into()));
            }
        }
        Ok(())
    }

    /// The current content of a shared queue.
    ///
    /// # Errors
    /// Without a connection or such a queue.
    pub async fn backlog(&self, queue: &Queue) -> Result<Backlog, BrokerError> {
        let live = self.consuming.connected().await?;
        let ready = declare::count(live.connection(), queue.name()).await?;
        let dead_letters = declare::count(live.connection(), &queue.dead_letters()).await?;
        Ok(Backlog { ready, dead_letters })
    }

    pub fn publisher(&self) -> Publisher {
        self.publisher.clone()
    }

    /// Closes the connections, within 5 s. Stop the consumers and the relay first.
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
    fn only_remote_traffic_without_verified_tls_is_exposed() {
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

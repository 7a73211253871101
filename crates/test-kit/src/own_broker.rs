//! A broker that a test may kill.

use std::path::Path;
use std::sync::Arc;

use domain::Entropy;
use local_stack::{RabbitMq, RabbitMqOptions, RabbitMqPorts};

use crate::{Directory, until};

const VHOST: &str = "tested";

/// Stopped and removed at the end of the test.
pub struct OwnBroker {
    pub server: RabbitMq,
    /// The URL of a virtual host.
    pub url: String,
    /// Dropped after the server, which writes into it.
    pub directory: Directory,
}

impl OwnBroker {
    pub async fn start() -> Self {
        Self::with_settings(|_| String::new()).await
    }

    /// With additional lines of `rabbitmq.conf`. The closure may write the files that they name into the directory.
    pub async fn with_settings(settings: impl FnOnce(&Path) -> String) -> Self {
        let directory = Directory::new("broker");
        let further = directory.path().join("rabbitmq/conf.d");
        std::fs::create_dir_all(&further).expect("a directory");
        std::fs::write(further.join("further.conf"), settings(directory.path())).expect("further settings");
        let entropy = Entropy::from_system().expect("randomness");
        let options = RabbitMqOptions {
            directory: directory.path().to_owned(),
            ports: RabbitMqPorts::free(&entropy).expect("free ports"),
            password: "letmein".into(),
        };
        let server = RabbitMq::start(&options, Arc::new(|_| {})).await.expect("a broker");
        let url = server.create_vhost(VHOST).await.expect("a virtual host");
        Self { server, url, directory }
    }

    /// Waits until the queues survive a kill: RabbitMQ 3.10 saves the names of new quorum queues only twice a second.
    pub async fn queues_are_on_disk(&self, queues: &[&str]) {
        let names = "rabbitmq/data/waybill@localhost/quorum/waybill@localhost/names.dets";
        let names = self.directory.path().join(names);
        until("the queues' names are on disk", async || {
            let names = std::fs::read(&names).unwrap_or_default();
            queues.iter().all(|queue| {
                let name = format!("{VHOST}_{queue}");
                names.windows(name.len()).any(|bytes| bytes == name.as_bytes())
            })
        })
        .await;
    }
}

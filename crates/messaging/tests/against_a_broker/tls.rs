//! A broker with TLS.

use events::queues;
use local_stack::{Authority, free_port};
use messaging::{Broker, Queue};
use settings::{Certificates, Secret};
use test_kit::{OwnBroker, until};

use crate::brokers::{Events, outgoing};
use crate::recorder::Recorder;

/// The name in the server's certificate. The server is also reachable as `localhost`.
const NAME: &str = "127.0.0.1";

struct TlsBroker {
    own: OwnBroker,
    port: u16,
}

impl TlsBroker {
    async fn start(authority: &Authority) -> Self {
        let certified = authority.certify(&[NAME]).unwrap();
        let port = free_port().unwrap();
        let own = OwnBroker::with_settings(|folder| {
            let file = |name: &str, text: &str| {
                std::fs::write(folder.join(name), text).unwrap();
                folder.join(name).display().to_string()
            };
            format!(
                "listeners.ssl.1 = 127.0.0.1:{port}\n\
                 ssl_options.cacertfile = {}\n\
                 ssl_options.certfile = {}\n\
                 ssl_options.keyfile = {}\n\
                 ssl_options.verify = verify_none\n",
                file("ca.pem", authority.pem()),
                file("server.pem", &certified.certificate),
                file("server.key", &certified.key),
            )
        })
        .await;
        Self { own, port }
    }

    fn connect(&self, host: &str, authority: Option<&Authority>) -> Broker {
        let mut settings = settings::Broker::new(Secret::new(self.url(host)));
        settings.ca = authority.map(|authority| Certificates::parse(authority.pem().to_owned()).unwrap());
        Broker::start(&settings, "test")
    }

    fn url(&self, host: &str) -> String {
        let place = self.own.url.split_once('@').unwrap();
        let (_, vhost) = place.1.split_once('/').unwrap();
        format!("{}@{host}:{}/{vhost}", place.0.replace("amqp://", "amqps://"), self.port)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_certified_host_is_accepted() {
    let authority = Authority::new("ours").unwrap();
    let server = TlsBroker::start(&authority).await;

    let broker = server.connect(NAME, Some(&authority));
    until("the connections are open", async || broker.check().await.is_ok()).await;
    let recorder = Recorder::content();
    let consuming = recorder.consume(&broker, Queue::shared(queues::FACTS), 1);
    broker.publisher().publish(&[outgoing(&Events::new().funded())]).await.unwrap();
    until("the event arrives", async || recorder.received().len() == 1).await;
    consuming.stop().await;
    broker.close().await;

    let stranger = Authority::new("stranger").unwrap();
    for (host, authority, error) in [
        (NAME, Some(&stranger), "UnknownIssuer"),
        ("localhost", Some(&authority), "certificate not valid for name \"localhost\""),
        (NAME, None, "UnknownIssuer"),
    ] {
        let refused = server.connect(host, authority);
        until(error, async || {
            refused.check().await.is_err_and(|refusal| refusal.to_string().contains(error))
        })
        .await;
    }
}

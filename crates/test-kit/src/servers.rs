//! Settings sections for tests: their own databases and virtual hosts, and unreachable addresses.

use std::net::{Ipv4Addr, SocketAddr};

use local_stack::{Servers, Service, TestServers, free_port};
use settings::{Broker, Database, Http, Secret};

/// A new database on the shared server, with the tables of a service.
pub async fn database_of(service: Service) -> Database {
    section(servers().await.create_database_of(service).await.expect("a database"))
}

/// A new, empty database on the shared server.
pub async fn database() -> Database {
    section(database_url().await)
}

fn section(url: String) -> Database {
    Database { url: Secret::new(url), pool_size: 8, serving_role: None }
}

pub async fn database_url() -> String {
    servers().await.create_database().await.expect("a database")
}

/// A new virtual host on the shared server.
pub async fn broker() -> Broker {
    Broker::new(Secret::new(vhost().await))
}

pub async fn vhost() -> String {
    servers().await.create_vhost().await.expect("a virtual host")
}

async fn servers() -> &'static TestServers {
    Servers::for_tests().await.expect("servers")
}

/// Listeners on free ports, without a public one.
pub fn listeners() -> Http {
    let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    Http {
        public: None,
        operator: None,
        internal: free,
        internal_tls: None,
        internal_certificate: None,
        management: free,
    }
}

/// An address without a listener: its port stays reserved until the test ends.
pub fn nowhere() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, free_port().expect("a port")))
}

/// The URL of a database that cannot be reached.
pub fn unreachable_database() -> Secret {
    Secret::new(format!("postgres://nobody@{}/nothing", nowhere()))
}

/// The URL of a broker that cannot be reached.
pub fn unreachable_broker() -> Secret {
    Secret::new(format!("amqp://nobody:nothing@{}/nothing", nowhere()))
}

//! The service under test, with its own database and virtual host.

use std::net::SocketAddr;

use chassis::Chassis;
use chrono::DateTime;
use diesel_async::{AsyncConnection, AsyncPgConnection, SimpleAsyncConnection};
use domain::{Clock, Entropy};
use messaging::Broker;
use portal_api::settings::PortalSettings;
use serde_json::{Value, json};
use test_kit::Service;
use test_kit::{metrics, until};
use web::Tasks;

use crate::client::Client;
use crate::mail_folder::{Mail, mails_in};
use crate::peers::Peers;

pub(crate) const OPERATOR_TOKEN: &str = "local-operator-token-of-the-local-stack";
const INTERNAL_TOKEN: &str = "local-internal-token-of-the-local-stack";

/// A running portal-api with its fake peers and its clock.
pub(crate) struct Portal {
    pub(crate) public: SocketAddr,
    /// The console's own listener.
    pub(crate) console: Option<SocketAddr>,
    pub(crate) internal: SocketAddr,
    pub(crate) management: SocketAddr,
    pub(crate) peers: Peers,
    pub(crate) clock: Clock,
    pub(crate) entropy: Entropy,
    pub(crate) settings: PortalSettings,
    pub(crate) tasks: Tasks,
    /// Another service's connection to the same broker.
    pub(crate) broker: Broker,
}

impl Portal {
    /// As in the local stack: no limits per address. Without a broker, which few tests need and which takes more
    /// processor time than all the rest.
    pub(crate) async fn start() -> Self {
        Self::with(&[("WAYBILL_LIMITS__PER_ADDRESS", "false")]).await
    }

    pub(crate) async fn with(more: &[(&str, &str)]) -> Self {
        let peers = Peers::start();
        let settings = settings_for(&peers, more).await;
        Self::begin(settings, peers, start_of_time())
    }

    /// As [`Portal::start`], with a virtual host of its own.
    pub(crate) async fn connected() -> Self {
        Self::connected_with(&[("WAYBILL_LIMITS__PER_ADDRESS", "false")]).await
    }

    pub(crate) async fn connected_with(more: &[(&str, &str)]) -> Self {
        let vhost = test_kit::vhost().await;
        let peers = Peers::start();
        let settings =
            settings_for(&peers, &[&[("WAYBILL_BROKER__URL", vhost.as_str())], more].concat()).await;
        let portal = Self::begin(settings, peers, start_of_time());
        until("the service is ready", async || is_ready(portal.management).await).await;
        portal
    }

    /// With the system's clock, which the program's commands use.
    pub(crate) async fn today() -> Self {
        Self::today_with(&[]).await
    }

    pub(crate) async fn today_with(more: &[(&str, &str)]) -> Self {
        let peers = Peers::start();
        let settings = settings_for(&peers, more).await;
        Self::begin(settings, peers, Clock::system())
    }

    /// With an unreachable database.
    pub(crate) async fn without_database() -> Self {
        let database = test_kit::unreachable_database();
        let peers = Peers::start();
        let settings = settings_for(&peers, &[("WAYBILL_DATABASE__URL", database.expose())]).await;
        Self::begin(settings, peers, start_of_time())
    }

    /// Another instance with the same database and broker.
    pub(crate) fn another(&self) -> Self {
        self.with_settings(self.settings.clone())
    }

    /// Another instance with other settings.
    pub(crate) fn with_settings(&self, settings: PortalSettings) -> Self {
        Self::begin(settings, self.peers.clone(), self.clock.clone())
    }

    /// Another instance with another operator token, and this previous one.
    pub(crate) fn with_operator_token(&self, token: &str, previous: Option<&str>) -> Self {
        let mut settings = self.settings.clone();
        settings.operator.token = settings::Secret::new(token);
        settings.operator.previous_token = previous.map(settings::Secret::new);
        self.with_settings(settings)
    }

    fn begin(settings: PortalSettings, peers: Peers, clock: Clock) -> Self {
        let entropy = Entropy::from_system().unwrap();
        let of_service = (settings.clone(), clock.clone(), entropy.clone());
        let (addresses, _running) = test_kit::in_background(move || {
            let (settings, clock, entropy) = of_service;
            let chassis = Chassis::new(&settings, metrics("portal-api"), clock, entropy).unwrap();
            let service = portal_api::start(&settings, chassis).unwrap();
            let public = service.public.unwrap();
            let tasks = service.tasks();
            ((public, service.operator, service.internal, service.management, tasks), service.run())
        });
        let (public, console, internal, management, tasks) = addresses;
        Self {
            public,
            console,
            internal,
            management,
            peers,
            clock,
            entropy,
            tasks,
            broker: Broker::start(&settings.broker, "test"),
            settings,
        }
    }

    /// A caller without a session.
    pub(crate) fn stranger(&self) -> Client {
        Client::new(self.public)
    }

    /// Signs up a new business, whose owner has a verified address if mails are sent.
    pub(crate) async fn owner(&self, email: &str) -> Owner {
        let owner = self.newcomer(email).await;
        if self.settings.mail.is_enabled() {
            let verify =
                format!("UPDATE accounts SET email_verified_at = created_at WHERE email = '{email}'");
            self.connect().await.batch_execute(&verify).await.unwrap();
        }
        owner
    }

    /// Signs up a new business. The peers have no records of it.
    pub(crate) async fn newcomer(&self, email: &str) -> Owner {
        // Businesses must not share their creation time.
        self.clock.advance(chrono::TimeDelta::milliseconds(1));
        let mut client = self.stranger();
        let answer = client.post("/v1/portal/accounts", sign_up_body(email)).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        let business = answer.body["businessId"].as_str().unwrap().to_owned();
        self.peers.know_new_business(&business);
        Owner { client, business }
    }

    /// Invites a user, and accepts the invitation.
    pub(crate) async fn member(&self, owner: &mut Owner, email: &str, role: &str) -> Client {
        let token = self.invite(owner, email, role).await;
        let mut client = self.stranger();
        let accepted = client
            .post("/v1/portal/invitations/accept", json!({ "token": token, "password": "battery staple" }));
        let accepted = accepted.await;
        assert_eq!(accepted.status, 201, "{accepted:?}");
        client
    }

    /// Activates the business without an audit log entry.
    pub(crate) async fn approve(&self, business: &str) {
        let approve = format!("UPDATE businesses SET status = 'active' WHERE id = '{business}'");
        self.connect().await.batch_execute(&approve).await.unwrap();
    }

    /// A connection to the database of the service.
    pub(crate) async fn connect(&self) -> AsyncPgConnection {
        AsyncPgConnection::establish(self.settings.database.url.expose()).await.unwrap()
    }

    /// Activates the business, invites a user, and returns the token of the link.
    pub(crate) async fn invite(&self, owner: &mut Owner, email: &str, role: &str) -> String {
        // Invitations and users must not share their creation time.
        self.clock.advance(chrono::TimeDelta::milliseconds(1));
        self.approve(&owner.business).await;
        let earlier = self.mailed_invitations(email).len();
        let path = "/v1/portal/invitations";
        let invited = owner.client.post(path, json!({ "email": email, "role": role })).await;
        assert_eq!(invited.status, 201, "{invited:?}");
        if let Some(url) = invited.body["url"].as_str() {
            return url.split_once("/invitation#token=").unwrap().1.to_owned();
        }
        until("the invitation arrives", async || self.mailed_invitations(email).len() > earlier).await;
        self.mailed_invitations(email).pop().unwrap().token()
    }

    fn mailed_invitations(&self, email: &str) -> Vec<Mail> {
        let Some(folder) = &self.settings.mail.folder else { return Vec::new() };
        let mut mails = mails_in(folder);
        mails.retain(|mail| mail.to == email && mail.subject.contains("invites you"));
        mails
    }

    /// The operator.
    pub(crate) fn operator(&self) -> Client {
        Client::new(self.public).with_bearer(OPERATOR_TOKEN)
    }

    /// The ordering context of a business, as order-api reads it.
    pub(crate) async fn ordering(&self, business: &str) -> Value {
        let mut order_api = Client::new(self.internal).with_bearer(INTERNAL_TOKEN);
        let answer = order_api.get(&format!("/internal/businesses/{business}/ordering")).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body
    }
}

/// A logged-in owner.
pub(crate) struct Owner {
    pub(crate) client: Client,
    pub(crate) business: String,
}

pub(crate) fn sign_up_body(email: &str) -> Value {
    json!({ "businessName": "Corner Shop", "email": email, "password": "correct horse" })
}

/// Settings with a new database and, unless `more` has one, without a broker.
async fn settings_for(peers: &Peers, more: &[(&str, &str)]) -> PortalSettings {
    let database = test_kit::database_of(Service::PortalApi).await;
    let mut variables = vec![
        ("WAYBILL_DATABASE__URL".to_owned(), database.url.expose().to_owned()),
        ("WAYBILL_BROKER__URL".to_owned(), test_kit::unreachable_broker().expose().to_owned()),
        ("WAYBILL_PUBLIC__URL".to_owned(), "http://portal.test".to_owned()),
    ];
    for listener in ["PUBLIC", "INTERNAL", "MANAGEMENT"] {
        variables.push((format!("WAYBILL_HTTP__{listener}"), "127.0.0.1:0".to_owned()));
    }
    for (variable, peer) in [
        ("ORDER_API", "order-api"),
        ("WALLET", "wallet"),
        ("KEY_MANAGEMENT", "key-management"),
        ("WEBHOOK_DISPATCHER", "webhook-dispatcher"),
    ] {
        variables.push((format!("WAYBILL_PEERS__{variable}"), format!("http://{}/{peer}", peers.address)));
    }
    variables.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    settings::load_from(variables.into_iter().collect()).unwrap()
}

fn start_of_time() -> Clock {
    Clock::manual(DateTime::from_timestamp(1_800_000_000, 0).unwrap())
}

pub(crate) async fn is_ready(management: SocketAddr) -> bool {
    test_kit::is_ready(&test_kit::url(management)).await
}

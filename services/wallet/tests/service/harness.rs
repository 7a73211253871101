//! Starts the service with its own database and, for the tests that need one, a virtual host, whose events it consumes.

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

use chassis::Chassis;
use diesel::sql_types::BigInt;
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use domain::{BusinessId, Clock, Entropy, EventId, OrderId, Paise};
use events::{Body, Envelope, binding};
use internal_api::CallError;
use internal_api::wallet::{DebitAnswer, DebitOutcome, DebitRequest, EntriesQuery, EntryView, WalletClient};
use messaging::{Broker, Handler, Queue, Rejection};
use serde_json::json;
use settings::{Environment, Internal, Peers, Secret, Telemetry};
use test_kit::Service;
use test_kit::until;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use url::Url;
use wallet::{CodRules, Payments, Reconciliation, Settings, WalletRules};

/// The operator's default threshold in these tests.
pub(crate) const THRESHOLD: i64 = 1_000;

/// One running service.
pub(crate) struct Harness {
    pub(crate) wallet: WalletClient,
    pub(crate) settings: Settings,
    /// The service's internal listener.
    pub(crate) internal: Url,
    pub(crate) management: Url,
    pub(crate) clock: Clock,
    pub(crate) entropy: Entropy,
    announced: mpsc::UnboundedReceiver<Envelope>,
    running: JoinHandle<anyhow::Result<()>>,
}

/// What [`serve`] started.
struct Instance {
    internal: Url,
    management: Url,
    wallet: WalletClient,
    running: JoinHandle<anyhow::Result<()>>,
}

impl Harness {
    /// Without a broker, which takes more processor time than most tests.
    pub(crate) async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    pub(crate) async fn start_with(change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = settings().await;
        change(&mut settings);
        Self::over(settings, mpsc::unbounded_channel().1)
    }

    /// With a virtual host of its own.
    pub(crate) async fn connected() -> Self {
        let settings = Settings { broker: test_kit::broker().await, ..settings().await };
        let announced = listen(&settings).await;
        Self::over(settings, announced)
    }

    /// As [`Harness::connected`], with a role that has only the rights that `migrate` gives, as in production.
    pub(crate) async fn start_with_granted_rights(change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings { broker: test_kit::broker().await, ..settings().await };
        change(&mut settings);
        // The role comes with its own database, which is not used here.
        let mut role = Url::parse(&test_kit::database_url().await).expect("a URL");
        role.set_path(Url::parse(settings.database.url.expose()).expect("a URL").path());
        let program = env!("CARGO_BIN_EXE_wallet");
        let migrated = test_kit::service_command(program, "migrate", &settings.database, &settings.broker)
            .env("WAYBILL_DATABASE__SERVING_ROLE", role.username())
            .status();
        assert!(migrated.expect("the program runs").success(), "the owner gives rights");
        settings.database.url = Secret::new(role.to_string());
        let announced = listen(&settings).await;
        Self::over(settings, announced)
    }

    /// With an unreachable database.
    pub(crate) async fn start_without_database() -> Self {
        let mut settings = settings().await;
        settings.database.url = test_kit::unreachable_database();
        Self::over(settings, mpsc::unbounded_channel().1)
    }

    fn over(settings: Settings, announced: mpsc::UnboundedReceiver<Envelope>) -> Self {
        let Instance { internal, management, wallet, running } = serve(&settings);
        let (clock, entropy) = (Clock::system(), Entropy::from_system().expect("randomness"));
        Self { wallet, settings, internal, management, clock, entropy, announced, running }
    }

    /// Stops the service and waits until its statements have ended.
    pub(crate) async fn stop(&mut self) {
        self.running.abort();
        let others = "SELECT count(*) FROM pg_stat_activity
                      WHERE datname = current_database() AND pid <> pg_backend_pid()";
        until("the service has left the database", async || self.number(others).await == 0).await;
    }

    /// Starts the service again, after [`Harness::stop`].
    pub(crate) fn start_again(&mut self) {
        let Instance { internal, management, wallet, running } = serve(&self.settings);
        (self.internal, self.management, self.wallet, self.running) = (internal, management, wallet, running);
    }

    /// A client of a second instance over the same database and broker.
    pub(crate) fn second_instance(&self) -> WalletClient {
        serve(&self.settings).wallet
    }

    pub(crate) fn business(&self) -> BusinessId {
        BusinessId::generate(&self.clock, &self.entropy)
    }

    pub(crate) fn order(&self) -> OrderId {
        OrderId::generate(&self.clock, &self.entropy)
    }

    /// A business with this much in its wallet.
    pub(crate) async fn funded(&self, paise: i64) -> BusinessId {
        let business = self.business();
        self.credit(business, paise, "opening").await;
        business
    }

    pub(crate) async fn credit(&self, business: BusinessId, paise: i64, reference: &str) {
        let body = json!({"amountPaise": paise, "reference": reference});
        self.wallet.credit(business, &body).await.expect("a credit");
    }

    pub(crate) async fn debit(
        &self,
        business: BusinessId,
        order: OrderId,
        attempt: i32,
        paise: i64,
    ) -> Result<DebitAnswer, CallError> {
        self.wallet.debit(order, attempt, &request(business, paise)).await
    }

    pub(crate) async fn void(
        &self,
        business: BusinessId,
        order: OrderId,
        attempt: i32,
        paise: i64,
    ) -> Result<DebitAnswer, CallError> {
        self.wallet.void(order, attempt, &request(business, paise)).await
    }

    pub(crate) async fn balance(&self, business: BusinessId) -> i64 {
        self.wallet.wallet(business).await.expect("a wallet").balance_paise.get()
    }

    /// The newest lines of the statement, newest first.
    pub(crate) async fn entries(&self, business: BusinessId) -> Vec<EntryView> {
        let page = EntriesQuery { limit: Some(100), ..EntriesQuery::default() };
        self.wallet.entries(business, &page).await.expect("a statement").data
    }

    /// The next event that the service announced.
    pub(crate) async fn next_announced(&mut self) -> Envelope {
        let next = tokio::time::timeout(Duration::from_secs(20), self.announced.recv()).await;
        next.expect("an announcement in time").expect("the listener lives")
    }

    /// Whether all announced events have been read.
    pub(crate) fn has_no_announcement(&mut self) -> bool {
        self.announced.is_empty()
    }

    pub(crate) async fn connection(&self) -> AsyncPgConnection {
        AsyncPgConnection::establish(self.settings.database.url.expose()).await.expect("a connection")
    }

    /// Runs statements as one script, and returns the database's error message.
    pub(crate) async fn script(&self, sql: &str) -> Result<(), String> {
        self.connection().await.batch_execute(sql).await.map_err(|error| error.to_string())
    }

    /// Lets each insert fail as if a block of the disk could not be read, until `repair`. `when` is BEFORE or AFTER.
    pub(crate) async fn damage(&self, when: &str, table: &str) {
        // A sequence counts the tries, because nothing rolls it back.
        let damage = format!(
            "CREATE SEQUENCE tries;
            CREATE FUNCTION damaged() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                PERFORM nextval('tries');
                RAISE EXCEPTION 'could not read block 7' USING ERRCODE = 'io_error';
            END $$;
            CREATE TRIGGER damaged {when} INSERT ON {table} EXECUTE FUNCTION damaged()"
        );
        self.script(&damage).await.expect("a damaged table");
    }

    /// How often an insert into the damaged table was tried.
    pub(crate) async fn tries(&self) -> i64 {
        self.number("SELECT last_value FROM tries").await
    }

    pub(crate) async fn repair(&self, table: &str) {
        self.script(&format!("DROP TRIGGER damaged ON {table}")).await.expect("a repaired table");
    }

    /// Moves the entries of a wallet up to this sequence into the past, with their transfers.
    pub(crate) async fn backdate(&self, business: BusinessId, up_to: i64, by: &str) {
        let script = format!(
            "ALTER TABLE entries DISABLE TRIGGER append_only; GRANT UPDATE ON entries TO CURRENT_USER;
             ALTER TABLE transfers DISABLE TRIGGER append_only;
             GRANT UPDATE (created_at) ON transfers TO CURRENT_USER;
             UPDATE transfers SET created_at = created_at - interval '{by}'
             WHERE business_id = '{business}' AND id IN
                 (SELECT transfer_id FROM entries WHERE business_id = '{business}' AND sequence <= {up_to});
             UPDATE entries SET created_at = created_at - interval '{by}'
             WHERE business_id = '{business}' AND sequence <= {up_to};
             REVOKE UPDATE (created_at) ON transfers FROM CURRENT_USER;
             ALTER TABLE transfers ENABLE TRIGGER append_only;
             REVOKE UPDATE ON entries FROM CURRENT_USER; ALTER TABLE entries ENABLE TRIGGER append_only;"
        );
        self.script(&script).await.expect("entries of another time");
    }

    pub(crate) async fn number(&self, sql: &str) -> i64 {
        #[derive(diesel::QueryableByName)]
        struct Row {
            #[diesel(sql_type = BigInt)]
            number: i64,
        }
        let query = diesel::sql_query(format!("SELECT ({sql})::bigint AS number"));
        query.get_result::<Row>(&mut self.connection().await).await.expect("a number").number
    }
}

pub(crate) fn request(business: BusinessId, paise: i64) -> DebitRequest {
    DebitRequest { business_id: business, amount_paise: Paise::new(paise) }
}

pub(crate) fn answer(outcome: DebitOutcome, balance: i64) -> DebitAnswer {
    DebitAnswer { outcome, balance_paise: Paise::new(balance), owed_paise: Paise::ZERO }
}

async fn settings() -> Settings {
    Settings {
        environment: Environment::Local,
        database: test_kit::database_of(Service::Wallet).await,
        broker: settings::Broker::new(test_kit::unreachable_broker()),
        http: test_kit::listeners(),
        internal: Internal::default(),
        telemetry: Telemetry::default(),
        // Unreachable: tests of reconciliation start a fake order-api.
        peers: Peers { order_api: test_kit::url(test_kit::nowhere()), ..Peers::default() },
        wallet: WalletRules { low_balance_threshold_paise: Paise::new(THRESHOLD) },
        cod: CodRules::default(),
        payments: Payments::default(),
        reconciliation: Reconciliation::default(),
    }
}

fn serve(settings: &Settings) -> Instance {
    let of_service = settings.clone();
    let ((internal, management), running) = test_kit::in_background(move || {
        let entropy = Entropy::from_system().expect("randomness");
        let chassis = Chassis::new(&of_service, test_kit::metrics("wallet"), Clock::system(), entropy)
            .expect("a chassis");
        let service = wallet::start(&of_service, chassis).expect("the service starts");
        ((test_kit::url(service.internal), test_kit::url(service.management)), service.run())
    });
    let wallet = client(&internal, &settings.internal.token);
    Instance { internal, management, wallet, running }
}

pub(crate) fn client(internal: &Url, token: &Secret) -> WalletClient {
    WalletClient(test_kit::peer("wallet", internal, token))
}

/// Consumes the events that the service announces from now on. An event that the broker confirms too late is published again.
async fn listen(settings: &Settings) -> mpsc::UnboundedReceiver<Envelope> {
    let (sender, announced) = mpsc::unbounded_channel();
    let (listening, mut connected) = watch::channel(false);
    let queue = Queue::per_instance(
        "test.wallets",
        &[
            binding::WALLET_FUNDED,
            binding::WALLET_LOW_BALANCE,
            binding::WALLET_MONEY_TAKEN_BACK,
            binding::CASH_REMITTED,
        ],
    );
    let broker = Broker::start(&settings.broker, "test");
    let listener = Listener { sender, listening, heard: Mutex::default() };
    tokio::spawn(messaging::consume(broker, queue, 1, listener, CancellationToken::new()));
    connected.wait_for(|connected| *connected).await.expect("the listener is subscribed");
    announced
}

struct Listener {
    sender: mpsc::UnboundedSender<Envelope>,
    listening: watch::Sender<bool>,
    heard: Mutex<HashSet<EventId>>,
}

impl Handler for Listener {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        match envelope.body {
            Body::WalletFunded {}
            | Body::WalletLowBalance(_)
            | Body::WalletMoneyTakenBack(_)
            | Body::CashRemitted(_) => {
                if self.heard.lock().expect("no test panics with the lock").insert(envelope.id) {
                    // The test may have ended already.
                    let _dropped = self.sender.send(envelope);
                }
                Ok(())
            }
            other => Err(Rejection::Never(format!("unexpected: {other:?}"))),
        }
    }

    async fn connected(&self) {
        self.listening.send_replace(true);
    }
}

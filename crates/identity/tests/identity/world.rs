//! A database with two accounts in each realm, a clock that the test moves, and seeded entropy.

use chrono::DateTime;
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use domain::{Clock, Entropy};
use identity::Account;
use settings::Database;
use test_kit::{Service, until};

/// The same in both realms.
pub(crate) const EMAIL: &str = "asha@shop.example";
pub(crate) const BUSINESS: &str = "biz_01ARZ3NDEKTSV4RRFFQ69G5FAV";
/// The memberships of the users.
pub(crate) const USERS: [&str; 2] = ["usr_01ARZ3NDEKTSV4RRFFQ69G5FAV", "usr_01ARZ3NDEKTSV4RRFFQ69G5FAW"];

/// The ids of one person and another differ in their last character, and those of the realms in their prefix only.
const PEOPLE: &str = "
    INSERT INTO businesses (id, name, status, live_access, subscription_state, created_at, updated_at)
    VALUES ('biz_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'Corner Shop', 'active', FALSE, 'required', now(), now());
    INSERT INTO accounts (id, realm, email, email_key, name, password_hash, created_at) VALUES
        ('acc_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'user', 'Asha@shop.example', 'asha@shop.example', 'Asha', 'hash', now()),
        ('stf_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'staff', 'Asha@shop.example', 'asha@shop.example', 'Asha', 'hash', now()),
        ('acc_01ARZ3NDEKTSV4RRFFQ69G5FAW', 'user', 'ravi@shop.example', 'ravi@shop.example', 'Ravi', 'hash', now()),
        ('stf_01ARZ3NDEKTSV4RRFFQ69G5FAW', 'staff', 'ravi@shop.example', 'ravi@shop.example', 'Ravi', 'hash', now());
    INSERT INTO memberships (id, business_id, account_id, role, created_at) VALUES
        ('usr_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'biz_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'acc_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'owner', now()),
        ('usr_01ARZ3NDEKTSV4RRFFQ69G5FAW', 'biz_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'acc_01ARZ3NDEKTSV4RRFFQ69G5FAW', 'viewer', now());
    INSERT INTO staff_roles (account_id, role) VALUES
        ('stf_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'viewer'), ('stf_01ARZ3NDEKTSV4RRFFQ69G5FAW', 'administrator');";

pub(crate) struct World {
    pub(crate) conn: AsyncPgConnection,
    pub(crate) clock: Clock,
    pub(crate) entropy: Entropy,
    pub(crate) settings: Database,
}

/// An account, and everybody whom nothing of it may serve.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) account: Account,
    /// The same person in the other realm, and another person of the same realm.
    pub(crate) others: [Account; 2],
}

#[derive(diesel::QueryableByName)]
struct Count {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    count: i64,
}

/// One of each realm.
pub(crate) fn cases() -> [Case; 2] {
    let user = |last: char| Account::User(format!("acc_01ARZ3NDEKTSV4RRFFQ69G5FA{last}").parse().unwrap());
    let staff = |last: char| Account::Staff(format!("stf_01ARZ3NDEKTSV4RRFFQ69G5FA{last}").parse().unwrap());
    [
        Case { account: user('V'), others: [staff('V'), user('W')] },
        Case { account: staff('V'), others: [user('V'), staff('W')] },
    ]
}

impl World {
    pub(crate) async fn new() -> Self {
        let settings = test_kit::database_of(Service::PortalApi).await;
        let mut conn = connect(&settings).await;
        conn.batch_execute(PEOPLE).await.unwrap();
        let clock = Clock::manual(DateTime::from_timestamp(1_800_000_000, 0).unwrap());
        Self { conn, clock, entropy: Entropy::seeded(1), settings }
    }

    pub(crate) async fn count(&mut self, table: &str) -> i64 {
        let counted = diesel::sql_query(format!("SELECT count(*) AS count FROM {table}"));
        counted.get_result::<Count>(&mut self.conn).await.unwrap().count
    }

    /// Does the same twice at once, on two connections that wait for the rows which `lock` holds, and tells how often it succeeded.
    pub(crate) async fn twice(
        &self,
        lock: &str,
        work: impl AsyncFn(&mut AsyncPgConnection) -> bool,
    ) -> usize {
        let mut holding = connect(&self.settings).await;
        holding.batch_execute(&format!("BEGIN; {lock}")).await.unwrap();
        let (mut one, mut other) = (connect(&self.settings).await, connect(&self.settings).await);
        let mut looking = connect(&self.settings).await;
        let (one, other, ()) = tokio::join!(work(&mut one), work(&mut other), async {
            until("both wait for a lock", async || {
                let waiting = "SELECT count(*) AS count FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock'";
                let waiting: Count = diesel::sql_query(waiting).get_result(&mut looking).await.unwrap();
                waiting.count == 2
            })
            .await;
            holding.batch_execute("COMMIT").await.unwrap();
        });
        usize::from(one) + usize::from(other)
    }
}

async fn connect(settings: &Database) -> AsyncPgConnection {
    AsyncPgConnection::establish(settings.url.expose()).await.unwrap()
}

//! Servers that accept no writes: a demoted primary, a standby, a host without a response.

use diesel::sql_types::Integer;
use diesel_async::RunQueryDsl;
use local_stack::query;
use postgres::{Database, StoreError};
use test_kit::until;
use tokio::net::TcpListener;

use crate::servers::{OwnServer, settings};

const NOTES: &str = "CREATE TABLE IF NOT EXISTS notes (id int)";

async fn add(database: &Database, id: i32) -> Result<(), StoreError> {
    database
        .transaction(async |conn| {
            diesel::sql_query("INSERT INTO notes VALUES ($1)").bind::<Integer, _>(id).execute(conn).await?;
            Ok(())
        })
        .await
}

/// A pool for several hosts, in this order.
fn database(hosts: &[String]) -> Database {
    let url = format!("postgres://tested:secret@{}/tested", hosts.join(","));
    Database::new(&settings(&url, 4)).unwrap()
}

async fn server() -> (OwnServer, String) {
    let own = OwnServer::start().await;
    query(&own.url, NOTES).await.unwrap();
    let (_, host) = own.url.split_once('@').unwrap();
    let host = host.trim_end_matches("/tested").to_owned();
    (own, host)
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_to_a_demoted_primary_are_replaced() {
    let ((old, old_host), (new, new_host)) = tokio::join!(server(), server());
    let database = database(&[old_host, new_host]);
    let adds = (0..4).map(|id| add(&database, id));
    futures_util::future::try_join_all(adds).await.unwrap();
    // Some tools demote a primary without ending its sessions.
    let admin = old.server.admin_url();
    query(&admin, "ALTER SYSTEM SET default_transaction_read_only = on").await.unwrap();
    query(&admin, "SELECT pg_reload_conf()").await.unwrap();
    let count = async || query(&new.url, "SELECT count(*) FROM notes").await.unwrap().parse::<i32>().unwrap();
    until("writes reach the other server", async || {
        if let Err(error) = add(&database, 4).await {
            assert!(error.is_unavailable() && error.is_rolled_back(), "{error}");
        }
        count().await > 0
    })
    .await;
    let before = count().await;
    let adds = (5..9).map(|id| add(&database, id));
    futures_util::future::try_join_all(adds).await.unwrap();
    assert_eq!(count().await, before + 4);
    database.check().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_is_not_ready_until_it_is_promoted() {
    let ((own, host), (other, other_host)) = tokio::join!(server(), server());
    let (alone, both) = (database(std::slice::from_ref(&host)), database(&[host, other_host]));
    add(&alone, 1).await.unwrap();
    query(&own.server.admin_url(), "COPY (SELECT) TO PROGRAM 'cat > standby.signal'").await.unwrap();
    own.server.restart().await.unwrap();

    let not_ready = alone.check().await.unwrap_err();
    assert!(not_ready.to_string().contains("database does not allow writes"), "{not_ready}");
    assert!(add(&alone, 2).await.unwrap_err().is_unavailable());
    both.check().await.unwrap();
    add(&both, 3).await.unwrap();
    assert_eq!(query(&other.url, "SELECT id FROM notes").await.unwrap(), "3");

    query(&own.server.admin_url(), "SELECT pg_promote()").await.unwrap();
    until("it is ready", async || alone.check().await.is_ok()).await;
    add(&alone, 4).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_without_a_response_leaves_time_for_the_next() {
    let (_own, host) = server().await;
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let database = database(&[silent.local_addr().unwrap().to_string(), host]);
    add(&database, 1).await.unwrap();
}

//! The pool with a real server: time limits, atomic transactions, recovery.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::servers::{OwnServer, database, settings};
use diesel::sql_types::{Integer, Text};
use diesel::{QueryableByName, sql_query};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};
use futures_util::FutureExt;
use local_stack::query;
use postgres::{Database, StoreError, violates};
use test_kit::until;

const NOTES: &str = "CREATE TABLE notes (id int CONSTRAINT notes_once PRIMARY KEY)";

async fn insert(conn: &mut AsyncPgConnection, id: i32) -> Result<(), StoreError> {
    sql_query("INSERT INTO notes VALUES ($1)").bind::<Integer, _>(id).execute(conn).await?;
    Ok(())
}

async fn add(database: &Database, id: i32) -> Result<(), StoreError> {
    database.transaction(async |conn| insert(conn, id).await).await
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = Integer)]
    number: i32,
}

async fn backend_pid(conn: &mut AsyncPgConnection) -> i32 {
    sql_query("SELECT pg_backend_pid() AS number").get_result::<Number>(conn).await.unwrap().number
}

#[tokio::test]
async fn an_unreachable_server_is_unavailable() {
    let port = local_stack::free_port().unwrap();
    let database = Database::new(&settings(&format!("postgres://u:p@127.0.0.1:{port}/d"), 2)).unwrap();
    let error = database.check().await.unwrap_err();
    assert!(error.is_unavailable(), "{error}");
    assert!(error.to_string().contains("refused"), "{error}");
}

#[tokio::test]
async fn actions_follow_the_commit_of_their_transaction() {
    let (database, url) = database(NOTES, 2).await;
    let runs = Arc::new(Mutex::new(Vec::new()));
    let note = |what: &'static str| {
        let runs = runs.clone();
        postgres::after_commit(move || runs.lock().unwrap().push(what));
    };
    let seen = || std::mem::take(&mut *runs.lock().unwrap());
    database
        .transaction(async |conn| {
            note("first");
            insert(conn, 1).await?;
            note("second");
            assert!(seen().is_empty(), "not before the commit");
            Ok::<_, StoreError>(())
        })
        .await
        .unwrap();
    assert_eq!(seen(), ["first", "second"]);

    let failed = database.transaction(async |conn| {
        note("rolled back");
        insert(conn, 1).await
    });
    failed.await.unwrap_err();
    // PostgreSQL rolls back at the commit, because the work ignored a failure.
    let ignored = database.transaction(async |conn| {
        note("ignored");
        drop(insert(conn, 1).await);
        Ok::<_, StoreError>(())
    });
    ignored.await.unwrap_err();
    assert!(seen().is_empty(), "nothing was committed");
    assert_eq!(query(&url, "SELECT count(*) FROM notes").await.unwrap(), "1");

    note("outside");
    assert_eq!(seen(), ["outside"], "a statement without a transaction commits itself");
}

#[tokio::test]
async fn a_session_has_its_limits() {
    #[derive(QueryableByName)]
    struct Setting {
        #[diesel(sql_type = Text)]
        value: String,
    }
    let (database, _) = database(NOTES, 2).await;
    database.check().await.unwrap();
    for (name, expected) in [
        ("statement_timeout", "5s"),
        ("lock_timeout", "3s"),
        ("idle_in_transaction_session_timeout", "10s"),
        ("timezone", "UTC"),
    ] {
        let setting = database
            .read(async |conn| {
                let query = sql_query(format!("SELECT current_setting('{name}') AS value"));
                Ok::<_, StoreError>(query.get_result::<Setting>(conn).await?)
            })
            .await
            .unwrap();
        assert_eq!(setting.value, expected, "{name}");
    }
}

#[tokio::test]
async fn a_transaction_commits_as_a_whole_or_not_at_all() {
    let (database, url) = database(NOTES, 2).await;
    add(&database, 1).await.unwrap();
    let error = database
        .transaction(async |conn| {
            insert(conn, 2).await?;
            insert(conn, 1).await
        })
        .await
        .unwrap_err();
    let StoreError::Query(cause) = &error else { panic!("{error}") };
    assert!(violates(cause, "notes_once"));
    assert!(!violates(cause, "notes_twice"));
    assert_eq!(query(&url, "SELECT string_agg(id::text, ',') FROM notes").await.unwrap(), "1");
}

#[tokio::test]
async fn an_ignored_failed_statement_prevents_the_commit() {
    let (database, url) = database(NOTES, 2).await;
    add(&database, 1).await.unwrap();
    let outcome: Result<(), StoreError> = database
        .transaction(async |conn| {
            insert(conn, 2).await?;
            let _ignored = insert(conn, 1).await;
            Ok(())
        })
        .await;
    assert!(matches!(outcome, Err(StoreError::Query(_))), "{outcome:?}");
    assert_eq!(query(&url, "SELECT count(*) FROM notes").await.unwrap(), "1");
    add(&database, 3).await.unwrap();
}

#[tokio::test]
async fn a_savepoint_may_fail_inside_a_transaction() {
    let (database, url) = database(NOTES, 2).await;
    add(&database, 1).await.unwrap();
    database
        .transaction(async |conn| {
            insert(conn, 2).await?;
            let inner: Result<(), StoreError> = conn.transaction(async |conn| insert(conn, 1).await).await;
            assert!(inner.is_err());
            Ok::<_, StoreError>(())
        })
        .await
        .unwrap();
    assert_eq!(query(&url, "SELECT count(*) FROM notes").await.unwrap(), "2");
}

#[tokio::test]
async fn only_errors_of_the_data_are_caused_by_it() {
    let (database, _) = database(&format!("{NOTES}; CREATE TABLE texts (text text PRIMARY KEY)"), 2).await;
    let long = "INSERT INTO texts SELECT string_agg(md5(n::text), '') FROM generate_series(1, 1000) AS n";
    for (sql, is_caused_by_data) in [
        ("INSERT INTO notes VALUES (1), (1)", true),
        ("INSERT INTO notes VALUES (NULL)", true),
        ("DO $$ BEGIN RAISE 'append-only' USING ERRCODE = '23000', CONSTRAINT = 'append_only'; END $$", true),
        ("SELECT 'abcd'::varchar(3)::int", true),
        ("SELECT CAST('99999999999' AS int)", true),
        ("SELECT 2147483647 + 1", true),
        ("SELECT 1 / 0", true),
        (long, true),
        ("INSERT INTO notes (colour) VALUES ('red')", false),
        ("SELECT 1 FROM nowhere", false),
        ("SELECT pg_read_file('/etc/hostname')", false),
        ("DO $$ BEGIN RAISE 'could not read block 7' USING ERRCODE = 'io_error'; END $$", false),
    ] {
        let outcome: Result<(), StoreError> = database
            .read(async |conn| {
                sql_query(sql).execute(conn).await?;
                Ok(())
            })
            .await;
        let error = outcome.unwrap_err();
        assert!(!error.is_unavailable(), "{error}");
        assert_eq!(error.is_caused_by_data(), is_caused_by_data, "{error}");
    }
}

#[tokio::test]
async fn locks_and_slow_statements_end_as_unavailable() {
    let (database, url) = database(NOTES, 3).await;
    let slow: Result<(), StoreError> = database
        .transaction(async |conn| {
            sql_query("SET LOCAL statement_timeout = 50").execute(conn).await?;
            sql_query("SELECT pg_sleep(5)").execute(conn).await?;
            Ok(())
        })
        .await;
    assert!(slow.unwrap_err().is_unavailable());

    let mut holder = AsyncPgConnection::establish(&url).await.unwrap();
    sql_query("BEGIN").execute(&mut holder).await.unwrap();
    insert(&mut holder, 1).await.unwrap();
    assert!(add(&database, 1).await.unwrap_err().is_unavailable());
}

#[tokio::test]
async fn waiting_for_a_connection_has_a_time_limit() {
    let (database, _) = database(NOTES, 2).await;
    let hold = || database.read(async |_| std::future::pending::<Result<(), StoreError>>().await);
    tokio::select! {
        biased;
        ended = hold() => panic!("{ended:?}"),
        ended = hold() => panic!("{ended:?}"),
        third = database.read(async |_| Ok::<_, StoreError>(())) => assert!(third.unwrap_err().is_unavailable()),
    }
}

#[tokio::test]
async fn a_cancelled_caller_leaves_no_open_transaction() {
    let (database, url) = database(NOTES, 2).await;
    let sleeping = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'";
    for _ in 0..4 {
        // The cancelled statements of the previous round have ended.
        until("no statement is left", async || query(&url, sleeping).await.unwrap() == "0").await;
        let mut abandoned = Box::pin(database.transaction(async |conn| {
            insert(conn, 1).await?;
            sql_query("SELECT pg_sleep(30)").execute(conn).await?;
            Ok::<_, StoreError>(())
        }));
        // Until the endless statement is running.
        while query(&url, sleeping).await.unwrap() == "0" {
            assert!(tokio::time::timeout(Duration::from_millis(20), &mut abandoned).await.is_err());
        }
        drop(abandoned);
        query(
            &url,
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'",
        )
        .await
        .unwrap();
    }
    // The same with a plain diesel transaction.
    let (wrote, written) = tokio::sync::oneshot::channel();
    let begun = database.read(async |conn| {
        let pid = backend_pid(conn).await;
        conn.transaction(async |conn| {
            insert(conn, 1).await?;
            wrote.send(pid).unwrap();
            std::future::pending::<Result<(), StoreError>>().await
        })
        .await
    });
    let pid = tokio::select! {
        ended = begun => panic!("{ended:?}"),
        written = written => written.unwrap(),
    };
    let next = database.read(async |conn| Ok::<_, StoreError>(backend_pid(conn).await)).await.unwrap();
    assert_ne!(next, pid);

    add(&database, 1).await.unwrap();
    assert_eq!(query(&url, "SELECT count(*) FROM notes").await.unwrap(), "1");
}

#[tokio::test]
async fn a_hanging_connection_is_unavailable_and_not_reused() {
    let (database, _) = database(NOTES, 2).await;
    let mut stopped = 0;
    let stopped_in = &mut stopped;
    let outcome: Result<(), StoreError> = database
        .read(async |conn| {
            *stopped_in = backend_pid(conn).await;
            signal("-STOP", *stopped_in);
            sql_query("SELECT 1").execute(conn).await?;
            Ok(())
        })
        .await;
    assert!(outcome.unwrap_err().is_unavailable());
    // The pool does not reuse that connection.
    for id in 0..5 {
        add(&database, id).await.unwrap();
    }
    signal("-CONT", stopped);
}

fn signal(signal: &str, pid: i32) {
    let sent = std::process::Command::new("kill").args([signal, &pid.to_string()]).status().unwrap();
    assert!(sent.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restart_of_the_server_the_next_transactions_succeed() {
    let own = OwnServer::start().await;
    query(&own.url, NOTES).await.unwrap();
    let database = own.database(4);
    // Several idle connections that become stale.
    let adds = (0..4).map(|id| add(&database, id));
    futures_util::future::try_join_all(adds).await.unwrap();
    for round in 1..=3 {
        own.server.kill().await.unwrap();
        let down = add(&database, -round).await;
        if let Err(error) = down {
            assert!(error.is_unavailable(), "{error}");
        }
        own.server.ready().await.unwrap();
        let adds = (0..8).map(|id| add(&database, round * 10 + id).boxed());
        futures_util::future::try_join_all(adds).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_outlives_the_runtime_that_requested_it() {
    let (database, _) = database(NOTES, 1).await;
    let asker = database.clone();
    let made = tokio::task::spawn_blocking(move || {
        let worker = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        worker.block_on(asker.read(async |conn| Ok::<_, StoreError>(backend_pid(conn).await))).unwrap()
    })
    .await
    .unwrap();
    let used = database.read(async |conn| Ok::<_, StoreError>(backend_pid(conn).await)).await.unwrap();
    assert_eq!(used, made, "it is the same connection");
}

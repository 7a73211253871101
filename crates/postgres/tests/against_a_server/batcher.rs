//! The write batcher with a real server: each job gets its own outcome, whatever happens to the others.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use diesel::sql_types::{Array, Integer};
use diesel::{QueryableByName, sql_query};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};
use futures_util::FutureExt;
use futures_util::future::join_all;
use local_stack::query;
use postgres::{Apply, Batcher, BatcherOptions, Gather, StoreError};
use proptest::prelude::*;
use test_kit::until;
use tokio::time::timeout;

use crate::servers::{OwnServer, database};

const TABLES: &str = "CREATE TABLE counted (id int PRIMARY KEY, amount int NOT NULL CHECK (amount < 1000));
    CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL);
    INSERT INTO accounts SELECT id, 0 FROM generate_series(0, 9) AS id;";

/// Adds `amount` under `id`; the outcome is `amount + 1`. Amounts of 1000 and more violate a constraint; [`PANIC`] panics.
#[derive(Clone, Debug)]
struct Job {
    id: i32,
    amount: i32,
    account: i32,
}

const PANIC: i32 = -1;

fn job(id: i32) -> Job {
    Job { id, amount: id % 1000, account: id % 10 }
}

#[derive(Default)]
struct Insert {
    runs: Arc<AtomicUsize>,
}

#[derive(QueryableByName)]
struct Inserted {
    #[diesel(sql_type = Integer)]
    id: i32,
    #[diesel(sql_type = Integer)]
    outcome: i32,
}

impl Apply for Insert {
    type Job = Job;
    type Outcome = i32;

    async fn apply(&self, mut conn: &AsyncPgConnection, jobs: &[Job]) -> Result<Vec<i32>, StoreError> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        assert!(jobs.iter().all(|job| job.amount != PANIC), "a job that panics");
        let mut accounts: Vec<i32> = jobs.iter().map(|job| job.account).collect();
        accounts.sort_unstable();
        accounts.dedup();
        let lock = "SELECT id AS id, 0 AS outcome FROM accounts WHERE id = ANY($1) ORDER BY id FOR UPDATE";
        sql_query(lock).bind::<Array<Integer>, _>(accounts).load::<Inserted>(&mut conn).await?;
        let insert = "INSERT INTO counted SELECT * FROM unnest($1, $2) RETURNING id, amount + 1 AS outcome";
        let rows = sql_query(insert)
            .bind::<Array<Integer>, _>(jobs.iter().map(|job| job.id).collect::<Vec<_>>())
            .bind::<Array<Integer>, _>(jobs.iter().map(|job| job.amount).collect::<Vec<_>>())
            .load::<Inserted>(&mut conn)
            .await?;
        let outcomes: BTreeMap<i32, i32> = rows.into_iter().map(|row| (row.id, row.outcome)).collect();
        Ok(jobs.iter().filter_map(|job| outcomes.get(&job.id).copied()).collect())
    }

    /// Every second batch: both ways to begin have the same outcomes.
    fn begins_with_reads(&self) -> bool {
        AtomicUsize::load(&self.runs, Ordering::Relaxed).is_multiple_of(2)
    }
}

async fn start(options: BatcherOptions) -> (Batcher<Job, i32>, Arc<AtomicUsize>, String) {
    let (database, url) = database(TABLES, 8).await;
    let insert = Insert::default();
    let runs = insert.runs.clone();
    (Batcher::start("test", database, options, insert), runs, url)
}

#[tokio::test(flavor = "multi_thread")]
async fn many_callers_share_few_transactions_and_each_gets_its_own_outcome() {
    let (batcher, runs, url) = start(BatcherOptions::default()).await;
    let submits = (0..2_000).map(|id| batcher.submit(job(id)));
    let outcomes = join_all(submits).await;
    for (id, outcome) in outcomes.into_iter().enumerate() {
        assert_eq!(outcome.unwrap(), i32::try_from(id).unwrap() % 1000 + 1);
    }
    assert_eq!(query(&url, "SELECT count(*) FROM counted").await.unwrap(), "2000");
    assert!(AtomicUsize::load(&runs, Ordering::Relaxed) < 60, "{runs:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gathering_batch_starts_with_enough_jobs_or_at_its_time_limit() {
    let never = Gather { enough: 5, at_most: Duration::from_secs(600) };
    let (batcher, runs, _) = start(BatcherOptions { gather: Some(never), ..Default::default() }).await;
    let mut few: Vec<_> = (0..4).map(|id| Box::pin(batcher.submit(job(id)))).collect();
    assert!(few.iter_mut().all(|submit| submit.now_or_never().is_none()), "the batch waits for a fifth job");
    assert_eq!(AtomicUsize::load(&runs, Ordering::Relaxed), 0);
    batcher.submit(job(4)).await.unwrap();
    assert!(join_all(few).await.iter().all(Result::is_ok));
    assert_eq!(AtomicUsize::load(&runs, Ordering::Relaxed), 1, "all in one transaction");

    let alone = batcher.submit(job(5));
    batcher.hurry();
    assert_eq!(alone.await.unwrap(), 6, "nobody waits for more jobs in a hurry");

    let soon = Gather { enough: 5, at_most: Duration::from_millis(20) };
    let (batcher, ..) = start(BatcherOptions { gather: Some(soon), ..Default::default() }).await;
    assert_eq!(batcher.submit(job(1)).await.unwrap(), 2, "the wait has a limit");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panicked_batch_is_an_error_and_the_batcher_continues() {
    let (batcher, _, url) = start(BatcherOptions::default()).await;
    let panics = batcher.submit(Job { amount: PANIC, ..job(1) }).await;
    assert!(panics.unwrap_err().is_unavailable());
    assert_eq!(batcher.submit(job(2)).await.unwrap(), 3);
    assert_eq!(query(&url, "SELECT string_agg(id::text, ',') FROM counted").await.unwrap(), "2");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_goes_away_changes_nothing() {
    let (batcher, _, url) = start(BatcherOptions::default()).await;
    // Polled once, so that the job is queued, and then dropped.
    let abandoned = (0..100).filter(|&id| batcher.submit(job(id)).now_or_never().is_none()).count();
    assert!(abandoned > 0, "every caller was answered at once");
    batcher.submit(job(100)).await.unwrap();
    assert_eq!(query(&url, "SELECT count(*) FROM counted").await.unwrap(), "101");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_refuses_at_once() {
    let options = BatcherOptions { queue_max: 3, batch_max: 1, ..Default::default() };
    let (batcher, _, url) = start(options).await;
    let outcomes = join_all((0..50).map(|id| batcher.submit(job(id)))).await;
    let done = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    let mut refused = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
    assert!(refused.all(|error| matches!(error, StoreError::Busy(_)) && error.is_unavailable()));
    assert!((3..50).contains(&done), "{done}");
    assert_eq!(query(&url, "SELECT count(*) FROM counted").await.unwrap(), done.to_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_held_lock_delays_only_the_jobs_that_need_it() {
    let (batcher, _, url) = start(BatcherOptions::default()).await;
    let mut holder = AsyncPgConnection::establish(&url).await.unwrap();
    sql_query("BEGIN").execute(&mut holder).await.unwrap();
    sql_query("SELECT FROM accounts WHERE id = 3 FOR UPDATE").execute(&mut holder).await.unwrap();
    // First, so that their first round is over when the others are done. The lock is held until all are answered.
    let need_it = [3, 13, 23, 33];
    let others = (0..40).filter(|id| id % 10 != 3);
    let submits = need_it.into_iter().chain(others).map(async |id| (id, batcher.submit(job(id)).await));
    // Longer than a first round waits for a lock.
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
        AND wait_event_type = 'Lock' AND clock_timestamp() - query_start > interval '500 ms'";
    let mut waiting_max = 0;
    let watching = async {
        loop {
            let waiting: u32 = query(&url, waiting).await.unwrap().parse().unwrap();
            waiting_max = waiting_max.max(waiting);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let outcomes = tokio::select! {
        outcomes = join_all(submits) => outcomes,
        () = watching => unreachable!(),
    };
    for (id, outcome) in outcomes {
        if need_it.contains(&id) {
            let error = outcome.unwrap_err();
            assert!(error.is_unavailable() && error.is_rolled_back(), "{id}: {error}");
        } else {
            assert_eq!(outcome.unwrap(), id + 1);
        }
    }
    assert!((1..=2).contains(&waiting_max), "two wait for the lock at a time: {waiting_max}");
    sql_query("COMMIT").execute(&mut holder).await.unwrap();
    assert_eq!(query(&url, "SELECT count(*) FROM counted").await.unwrap(), "36");
    assert_eq!(batcher.submit(job(103)).await.unwrap(), 104);
}

#[tokio::test(flavor = "multi_thread")]
async fn outcomes_are_true_when_the_server_is_killed() {
    let own = OwnServer::start().await;
    query(&own.url, TABLES).await.unwrap();
    let batcher = Batcher::start(
        "test",
        own.database(4),
        BatcherOptions { batch_max: 16, ..Default::default() },
        Insert::default(),
    );
    let submitting = {
        let batcher = batcher.clone();
        tokio::spawn(async move {
            let submits = (0..64).map(|caller| {
                let batcher = batcher.clone();
                async move {
                    let mut outcomes = Vec::new();
                    for id in (caller..).step_by(64) {
                        let outcome = batcher.submit(job(id)).await;
                        let met_the_kill = outcome.is_err();
                        outcomes.push((id, outcome));
                        if met_the_kill {
                            break;
                        }
                    }
                    outcomes
                }
            });
            join_all(submits).await.into_iter().flatten().collect::<Vec<_>>()
        })
    };
    until("rows flow", async || query(&own.url, "SELECT count(*) > 500 FROM counted").await.unwrap() == "t")
        .await;
    own.server.kill().await.unwrap();
    own.server.ready().await.unwrap();
    let outcomes = timeout(Duration::from_secs(120), submitting).await.unwrap().unwrap();
    let written: Vec<String> =
        query(&own.url, "SELECT id FROM counted").await.unwrap().lines().map(str::to_owned).collect();
    for (id, outcome) in outcomes {
        match outcome {
            Ok(outcome) => {
                assert_eq!(outcome, id % 1000 + 1);
                assert!(written.contains(&id.to_string()), "{id} was promised");
            }
            Err(error) => {
                assert!(error.is_unavailable(), "{error}");
            }
        }
    }
    batcher.submit(job(100_000)).await.unwrap();
}

/// Makes commits slower than any caller's time limit.
const SLOW_COMMITS: &str = "
    CREATE FUNCTION sleep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(3600); RETURN NULL; END';
    CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON counted
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION sleep();";

/// The server was asked to commit. Its connection ends before the response.
#[tokio::test(flavor = "multi_thread")]
async fn a_commit_without_a_response_has_an_unknown_outcome() {
    let (batcher, runs, url) = start(BatcherOptions::default()).await;
    query(&url, SLOW_COMMITS).await.unwrap();
    let submitting = {
        let batcher = batcher.clone();
        tokio::spawn(async move { batcher.submit(job(1)).await })
    };
    let committing = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";
    until("it is being committed", async || {
        query(&url, &format!("SELECT count(*) {committing}")).await.unwrap() == "1"
    })
    .await;
    query(&url, &format!("SELECT pg_terminate_backend(pid) {committing}")).await.unwrap();
    assert!(submitting.await.unwrap().unwrap_err().is_unavailable());
    assert_eq!(AtomicUsize::load(&runs, Ordering::Relaxed), 1, "it may have committed, so it is not retried");

    query(&url, "DROP TRIGGER slow_commit ON counted").await.unwrap();
    assert_eq!(batcher.submit(job(2)).await.unwrap(), 3);
    assert_eq!(query(&url, "SELECT string_agg(id::text, ',') FROM counted").await.unwrap(), "2");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Invalid jobs fail alone, whatever else is in their batch; valid jobs are all written.
    #[test]
    fn invalid_jobs_fail_alone(
        bad in proptest::collection::vec(proptest::bool::weighted(0.05), 1..200),
        batch_max in 1..64_usize,
        lanes in 1..4_usize,
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().worker_threads(2).build().unwrap();
        runtime.block_on(async {
            let (batcher, _, url) = start(BatcherOptions { batch_max, lanes, ..Default::default() }).await;
            let jobs = bad.iter().zip(0..).map(|(bad, id)| {
                if *bad { Job { amount: 1_000, ..job(id) } } else { job(id) }
            });
            let outcomes = join_all(jobs.map(|job| batcher.submit(job))).await;
            for ((bad, id), outcome) in bad.iter().zip(0..).zip(outcomes) {
                match outcome {
                    Ok(outcome) => assert!(!bad && outcome == id + 1, "{id}: {outcome}"),
                    Err(StoreError::Query(error)) => assert!(*bad, "{id}: {error}"),
                    Err(error) => panic!("{id}: {error}"),
                }
            }
            let good = bad.iter().filter(|bad| !**bad).count();
            assert_eq!(query(&url, "SELECT count(*) FROM counted").await.unwrap(), good.to_string());
        });
    }
}

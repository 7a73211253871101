//! Attempts that count against limits.

use chrono::TimeDelta;
use diesel_async::AsyncPgConnection;
use domain::Email;
use futures_util::future::join_all;
use identity::Realm;
use identity::attempts::{self, Admission, Attempt, LOG_IN, Subject};
use postgres::{Database, StoreError};

use crate::world::{EMAIL, World};

const QUARTER: TimeDelta = TimeDelta::minutes(15);

/// The account of the same address in both realms, with the other one.
fn subjects() -> [[Subject; 2]; 2] {
    let of = |realm| Subject::account(LOG_IN.browser, (realm, &Email::parse(EMAIL).unwrap()));
    [[of(Realm::User), of(Realm::Staff)], [of(Realm::Staff), of(Realm::User)]]
}

async fn attempt(world: &mut World, subject: Subject) -> Result<Vec<Attempt>, TimeDelta> {
    match attempts::admit(&mut world.conn, &[subject], world.clock.now()).await.unwrap() {
        Admission::Granted(counted) => Ok(counted),
        Admission::RetryAfter(wait) => Err(wait),
    }
}

#[tokio::test]
async fn the_limit_holds_for_attempts_at_once() {
    let world = World::new().await;
    let database = Database::new(&world.settings).unwrap();
    for [subject, _] in subjects() {
        let now = world.clock.now();
        let admit = async |conn: &mut AsyncPgConnection| {
            let admission = attempts::admit(conn, &[subject], now).await?;
            Ok::<_, StoreError>(matches!(admission, Admission::Granted(_)))
        };
        let outcomes = join_all((0..30).map(|_| database.transaction(admit))).await;
        let granted = outcomes.into_iter().filter(|outcome| *outcome.as_ref().unwrap());
        assert_eq!(granted.count(), LOG_IN.browser.limit.max);
    }
}

#[tokio::test]
async fn an_attempt_is_refused_until_the_oldest_leaves_the_window_and_refusals_do_not_count() {
    let mut world = World::new().await;
    for [subject, _] in subjects() {
        for _ in 0..10 {
            attempt(&mut world, subject).await.unwrap();
            world.clock.advance(TimeDelta::minutes(1));
        }
        for minutes in [5, 4, 3, 2, 1] {
            assert_eq!(attempt(&mut world, subject).await, Err(TimeDelta::minutes(minutes)));
            world.clock.advance(TimeDelta::minutes(1));
        }
        attempt(&mut world, subject).await.unwrap();
        world.clock.advance(QUARTER);
    }
    world.clock.advance(TimeDelta::hours(24));
    let now = world.clock.now();
    assert!(attempts::prune(&mut world.conn, now, 100).await.unwrap() >= 10);
    assert_eq!(world.count("attempts").await, 0);
}

#[tokio::test]
async fn an_attempt_counts_for_all_its_subjects_or_for_none() {
    let mut world = World::new().await;
    for [full, other] in subjects() {
        let now = world.clock.now();
        for _ in 0..10 {
            attempts::record(&mut world.conn, full, now).await.unwrap();
        }
        let refused = attempts::admit(&mut world.conn, &[other, full], now).await.unwrap();
        assert!(matches!(refused, Admission::RetryAfter(wait) if wait == QUARTER));
        assert_eq!(attempts::wait(&mut world.conn, &other, now).await.unwrap(), None);
        assert_eq!(world.count("attempts").await, 10, "none of the other subject");
        attempts::clear(&mut world.conn, full).await.unwrap();
    }
}

#[tokio::test]
async fn a_cancelled_attempt_is_given_back_and_a_cleared_subject_forgotten() {
    let mut world = World::new().await;
    for [subject, other] in subjects() {
        for _ in 0..9 {
            attempt(&mut world, subject).await.unwrap();
            attempt(&mut world, other).await.unwrap();
        }
        for _ in 0..3 {
            let counted = attempt(&mut world, subject).await.unwrap();
            attempts::cancel(&mut world.conn, &counted).await.unwrap();
        }
        attempt(&mut world, subject).await.unwrap();
        assert_eq!(attempt(&mut world, subject).await, Err(QUARTER));
        attempts::clear(&mut world.conn, subject).await.unwrap();
        for _ in 0..10 {
            attempt(&mut world, subject).await.unwrap();
        }
        attempt(&mut world, other).await.unwrap();
        assert_eq!(attempt(&mut world, other).await, Err(QUARTER), "the other realm keeps its attempts");
        world.clock.advance(QUARTER);
    }
}

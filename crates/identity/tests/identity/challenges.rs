//! Log-ins with a right password that wait for the second factor.

use chrono::TimeDelta;
use identity::SecretToken;
use identity::second_factors::{Factors, log_in_challenges};

use crate::world::{Case, World, cases};

/// The factors, and a challenge of the account.
async fn challenged(world: &mut World, case: Case) -> (Factors, SecretToken) {
    let factors = world.factors();
    if factors.open_challenge(&mut world.conn, case.account, "hash").await.unwrap().is_none() {
        world.enrol(case.account).await;
    }
    let opened = factors.open_challenge(&mut world.conn, case.account, "hash").await.unwrap().unwrap();
    assert_eq!(opened.passkey_origin, None, "the account has no passkey");
    (factors, opened.token)
}

#[tokio::test]
async fn only_an_account_with_a_confirmed_factor_gets_one() {
    let mut world = World::new().await;
    for case in cases() {
        let factors = world.factors();
        for other in case.others {
            world.enrol(other).await;
        }
        assert!(factors.open_challenge(&mut world.conn, case.account, "hash").await.unwrap().is_none());
        factors.begin_enrolment(&mut world.conn, case.account).await.unwrap();
        assert!(factors.open_challenge(&mut world.conn, case.account, "hash").await.unwrap().is_none());
        world = World::new().await;
    }
}

#[tokio::test]
async fn a_challenge_names_its_account_and_ends_with_a_changed_password() {
    let mut world = World::new().await;
    for case in cases() {
        let (factors, token) = challenged(&mut world, case).await;
        let challenge = factors.challenge(&mut world.conn, &token).await.unwrap().unwrap();
        assert_eq!(challenge.account, case.account);
        assert!(challenge.is_for("hash") && !challenge.is_for("another hash"));
    }
}

#[tokio::test]
async fn a_challenge_has_five_tries_also_at_once() {
    let mut world = World::new().await;
    for case in cases() {
        let (factors, token) = challenged(&mut world, case).await;
        for _ in 0..4 {
            assert!(factors.take_try(&mut world.conn, &token).await.unwrap().is_some());
            assert!(factors.challenge(&mut world.conn, &token).await.unwrap().is_some());
        }
        let taken = world.twice("SELECT FROM log_in_challenges FOR UPDATE", async |conn| {
            factors.take_try(conn, &token).await.unwrap().is_some()
        });
        assert_eq!(taken.await, 1);
        assert!(factors.challenge(&mut world.conn, &token).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn a_challenge_lasts_five_minutes() {
    let mut world = World::new().await;
    for case in cases() {
        let (factors, token) = challenged(&mut world, case).await;
        world.clock.advance(TimeDelta::minutes(5) - TimeDelta::milliseconds(1));
        let (_, second) = challenged(&mut world, case).await;
        assert!(factors.take_try(&mut world.conn, &token).await.unwrap().is_some());
        world.clock.advance(TimeDelta::milliseconds(1));
        assert!(factors.challenge(&mut world.conn, &token).await.unwrap().is_none());
        assert!(factors.take_try(&mut world.conn, &token).await.unwrap().is_none());
        let now = world.clock.now();
        assert!(log_in_challenges::prune(&mut world.conn, now, 100).await.unwrap() > 0);
        assert!(factors.challenge(&mut world.conn, &second).await.unwrap().is_some(), "it has not expired");
    }
}

#[tokio::test]
async fn a_challenge_opens_one_session() {
    let mut world = World::new().await;
    for case in cases() {
        let (_, token) = challenged(&mut world, case).await;
        let ended = world.twice("SELECT FROM log_in_challenges FOR UPDATE", async |conn| {
            log_in_challenges::remove(conn, &token).await.unwrap()
        });
        assert_eq!(ended.await, 1);
    }
}

//! Authenticator apps and recovery codes.

use chrono::TimeDelta;
use identity::second_factors::{self, CheckedAnswer, FactorCode, FactorError, Proof};
use test_kit::Authenticator;

use crate::enrolled::KEY;
use crate::world::{World, cases};

const STEP: TimeDelta = Authenticator::STEP;

#[tokio::test]
async fn a_code_of_the_app_works_once_in_its_own_period_and_the_neighbours() {
    let mut world = World::new().await;
    for case in cases() {
        let app = world.enrol(case.account).await.app;
        let first = app.at(world.clock.now() - STEP);
        assert!(world.refuses(case.account, &first).await, "it has completed the set-up");
        for (steps, works) in [(-2, false), (-1, true), (0, true), (1, true), (2, false)] {
            world.clock.advance(STEP * 10);
            let code = app.at(world.clock.now() + STEP * steps);
            let proof = world.prove(case.account, &code).await;
            assert_eq!(proof.is_ok_and(|proof| proof == Proof::App), works, "{steps}");
            assert!(world.refuses(case.account, &code).await, "{steps}: replayed");
        }
        world.clock.advance(STEP * 10);
        let next = app.at(world.clock.now() + STEP);
        world.prove(case.account, &next).await.unwrap();
        assert!(world.refuses(case.account, &app.now(&world.clock)).await, "one before an accepted one");
    }
}

#[tokio::test]
async fn a_recovery_code_works_once_however_it_is_typed_until_it_is_replaced() {
    let mut world = World::new().await;
    for case in cases() {
        let codes = world.enrol(case.account).await.codes;
        assert_eq!(codes.len(), 10);
        for typed in [codes[0].clone(), codes[1].to_uppercase(), codes[2].replace('-', " ")] {
            assert_eq!(world.prove(case.account, &typed).await.unwrap(), Proof::RecoveryCode);
            assert!(world.refuses(case.account, &typed).await, "it works once");
        }
        let status = second_factors::status(&mut world.conn, case.account).await.unwrap();
        assert_eq!((status.confirmed_at.is_some(), status.recovery_codes_left), (true, 7));
        let factors = world.factors();
        let new = factors.replace_recovery_codes(&mut world.conn, case.account).await.unwrap();
        assert!(world.refuses(case.account, &codes[9]).await, "replaced");
        world.prove(case.account, &new[0].expose()).await.unwrap();
    }
}

/// The statement that accepts the code decides.
#[tokio::test]
async fn of_two_uses_of_a_code_at_once_one_succeeds() {
    const LOCK: &str = "SELECT FROM second_factors FOR UPDATE; SELECT FROM recovery_codes FOR UPDATE";
    let mut world = World::new().await;
    for case in cases() {
        let enrolled = world.enrol(case.account).await;
        for code in [&enrolled.app.now(&world.clock), &enrolled.codes[0]] {
            let (factors, code) = (world.factors(), FactorCode::parse(code).unwrap());
            let accepted = world.twice(LOCK, async |conn| {
                factors.accept(conn, case.account, &CheckedAnswer::Code(&code)).await.is_ok()
            });
            assert_eq!(accepted.await, 1);
        }
    }
}

#[tokio::test]
async fn nothing_of_a_factor_serves_another_account() {
    for case in cases() {
        let mut world = World::new().await;
        let enrolled = world.enrol(case.account).await;
        for other in case.others {
            assert!(!second_factors::is_enrolled(&mut world.conn, other).await.unwrap());
            assert!(!second_factors::remove(&mut world.conn, other).await.unwrap());
            for code in [&enrolled.app.now(&world.clock), &enrolled.codes[0]] {
                assert!(world.refuses(other, code).await, "without a factor of its own");
            }
            world.enrol(other).await;
            for code in [&enrolled.app.now(&world.clock), &enrolled.codes[0]] {
                assert!(world.refuses(other, code).await, "{other}");
            }
        }
        world.prove(case.account, &enrolled.codes[0]).await.unwrap();
        world.prove(case.account, &enrolled.app.now(&world.clock)).await.unwrap();
    }
}

#[tokio::test]
async fn a_set_up_ends_after_an_hour_or_with_the_next_one_and_a_confirmed_factor_stays() {
    let mut world = World::new().await;
    for case in cases() {
        let factors = world.factors();
        let (conn, clock) = (&mut world.conn, &world.clock);
        let none = factors.confirm_enrolment(conn, case.account, "123456").await;
        assert!(matches!(none, Err(FactorError::NotStarted)));
        let mut apps = Vec::new();
        for _ in 0..2 {
            let secret = factors.begin_enrolment(conn, case.account).await.unwrap();
            apps.push(Authenticator::new(&secret.expose()));
        }
        let replaced = factors.confirm_enrolment(conn, case.account, &apps[0].now(clock)).await;
        assert!(matches!(replaced, Err(FactorError::WrongCode)));
        clock.advance(TimeDelta::hours(1));
        let late = factors.confirm_enrolment(conn, case.account, &apps[1].now(clock)).await;
        assert!(matches!(late, Err(FactorError::NotStarted)));
        let unconfirmed = factors.replace_recovery_codes(conn, case.account).await;
        assert!(matches!(unconfirmed, Err(FactorError::NotEnrolled)));

        let secret = factors.begin_enrolment(conn, case.account).await.unwrap();
        clock.advance(TimeDelta::hours(1) - TimeDelta::milliseconds(1));
        assert!(!second_factors::is_enrolled(conn, case.account).await.unwrap(), "before its first code");
        let code = Authenticator::new(&secret.expose()).now(clock);
        factors.confirm_enrolment(conn, case.account, &code).await.unwrap();
        let again = factors.begin_enrolment(conn, case.account).await;
        assert!(matches!(again, Err(FactorError::AlreadyEnrolled)));
        let again = factors.confirm_enrolment(conn, case.account, &code).await;
        assert!(matches!(again, Err(FactorError::AlreadyEnrolled)));
    }
}

#[tokio::test]
async fn a_code_under_the_previous_key_works_and_is_sealed_anew() {
    const NEXT: Option<&str> = Some("another key of the tests");
    let mut world = World::new().await;
    for case in cases() {
        let enrolled = world.enrol(case.account).await;
        for (key, previous, works) in
            [(NEXT, None, false), (None, None, false), (NEXT, Some(KEY), true), (NEXT, None, true)]
        {
            let factors = world.factors_with(key, previous);
            world.clock.advance(STEP);
            let code = FactorCode::parse(&enrolled.app.now(&world.clock)).unwrap();
            let proof = factors.accept(&mut world.conn, case.account, &CheckedAnswer::Code(&code)).await;
            assert!(
                if works { proof.is_ok() } else { matches!(proof, Err(FactorError::Vault(_))) },
                "{key:?}"
            );
        }
        let without = world.factors_with(None, None);
        let code = FactorCode::parse(&enrolled.codes[0]).unwrap();
        let proof = without.accept(&mut world.conn, case.account, &CheckedAnswer::Code(&code)).await;
        assert_eq!(proof.unwrap(), Proof::RecoveryCode, "it needs no key");
    }
}

#[tokio::test]
async fn nothing_of_a_removed_factor_comes_back_with_the_next_one() {
    let mut world = World::new().await;
    for case in cases() {
        let (former, ..) = world.with_passkey(case.account).await;
        let factors = world.factors();
        let challenge = factors.open_challenge(&mut world.conn, case.account, "hash").await.unwrap().unwrap();
        assert!(second_factors::remove(&mut world.conn, case.account).await.unwrap());
        assert!(!second_factors::remove(&mut world.conn, case.account).await.unwrap());
        assert!(factors.challenge(&mut world.conn, &challenge.token).await.unwrap().is_none());
        let present = world.enrol(case.account).await;
        for code in [&former.app.now(&world.clock), &former.codes[0]] {
            assert!(world.refuses(case.account, code).await);
        }
        assert!(matches!(world.options(case.account).await, Err(FactorError::UnknownPasskey)));
        world.prove(case.account, &present.app.now(&world.clock)).await.unwrap();
    }
}

//! Passkeys of a software authenticator.

use chrono::TimeDelta;
use identity::passkeys::{self, CEREMONY_LASTS, CeremonyKey, CeremonyPurpose, passkey_ceremonies};
use identity::second_factors::{FactorAnswer, FactorError, Proof};
use test_kit::PasskeyDevice;

use crate::enrolled::{HOLDER, ceremony, origin};
use crate::world::{World, cases};

fn is_wrong<T>(outcome: Result<T, FactorError>) -> bool {
    matches!(outcome, Err(FactorError::WrongPasskey))
}

fn has_ended<T>(outcome: Result<T, FactorError>) -> bool {
    matches!(outcome, Err(FactorError::CeremonyEnded))
}

#[tokio::test]
async fn a_signature_counts_for_the_site_of_the_realm_and_a_verified_person_only() {
    let mut world = World::new().await;
    for case in cases() {
        let early = world.creation_options(case.account).await;
        assert!(matches!(early, Err(FactorError::NotEnrolled)), "the app comes first");
        let (_, mut device, _) = world.with_passkey(case.account).await;
        let own = origin(case.account);
        let foreign = [
            "https://evil.test",
            &own.replace("https", "http"),
            &format!("{own}:8443"),
            origin(case.others[0]),
        ]
        .map(ToOwned::to_owned);
        for origin in foreign {
            device.origin = origin;
            assert!(is_wrong(world.sign(case.account, &mut device).await), "{}", device.origin);
        }
        device.origin = own.to_owned();
        device.rp_id = Some("evil.test".to_owned());
        assert!(is_wrong(world.sign(case.account, &mut device).await), "of another site");
        device.rp_id = None;
        device.verifies = false;
        assert!(is_wrong(world.sign(case.account, &mut device).await), "not verified");
        device.verifies = true;
        assert_eq!(world.sign(case.account, &mut device).await.unwrap(), Proof::Passkey);
        let listed = passkeys::list(&mut world.conn, case.account).await.unwrap();
        assert_eq!(listed[0].last_used_at, Some(world.clock.now()));
    }
}

#[tokio::test]
async fn a_new_passkey_is_for_this_site_and_a_verified_person_only() {
    let change: [fn(&mut PasskeyDevice); 5] = [
        |device| device.origin = "https://evil.test".to_owned(),
        |device| device.rp_id = Some("evil.test".to_owned()),
        |device| device.verifies = false,
        |device| device.id.clear(),
        |device| device.id = vec![7; 1_024],
    ];
    let mut world = World::new().await;
    for case in cases() {
        let (_, mut known, _) = world.with_passkey(case.account).await;
        for change in change {
            let mut device = PasskeyDevice::at(origin(case.account));
            change(&mut device);
            assert!(is_wrong(world.add(case.account, &mut device).await));
        }
        let first = world.creation_options(case.account).await.unwrap();
        world.creation_options(case.account).await.unwrap();
        let outdated = known.create(&first);
        assert!(is_wrong(world.finish_adding(case.account, &outdated).await), "of a replaced challenge");
        assert!(has_ended(world.finish_adding(case.account, &outdated).await), "used up");
        assert_eq!(passkeys::count(&mut world.conn, case.account).await.unwrap(), 1);
    }
}

#[tokio::test]
async fn a_challenge_is_used_once_for_its_purpose_holder_and_account_in_its_time() {
    const MOMENT: TimeDelta = TimeDelta::milliseconds(1);
    let mut world = World::new().await;
    for case in cases() {
        let (_, mut device, _) = world.with_passkey(case.account).await;
        let options = world.options(case.account).await.unwrap();
        let signed = device.sign(&options);
        let elsewhere = CeremonyKey::new(CeremonyPurpose::LogIn, "another session");
        for key in [ceremony(CeremonyPurpose::Confirm), elsewhere] {
            assert!(has_ended(world.answer_to(case.account, &signed, key).await));
        }
        for other in case.others {
            assert!(has_ended(world.answer(other, &signed).await), "{other}");
        }
        world.clock.advance(CEREMONY_LASTS - MOMENT);
        world.answer(case.account, &signed).await.unwrap();
        assert!(has_ended(world.answer(case.account, &signed).await), "replayed");
        world.options(case.account).await.unwrap();
        assert!(is_wrong(world.answer(case.account, &signed).await), "replayed to the next challenge");
        assert!(has_ended(world.answer(case.account, &signed).await), "a wrong answer uses it up");

        let options = world.options(case.account).await.unwrap();
        let signed = device.sign(&options);
        world.options(case.account).await.unwrap();
        assert!(is_wrong(world.answer(case.account, &signed).await), "the next one replaces it");
        let options = world.options(case.account).await.unwrap();
        world.clock.advance(CEREMONY_LASTS);
        assert!(has_ended(world.answer(case.account, &device.sign(&options)).await), "late");
        assert_eq!(world.count("passkey_ceremonies").await, 1, "{HOLDER} has one at a time");
        let now = world.clock.now();
        assert_eq!(passkey_ceremonies::prune(&mut world.conn, now, 100).await.unwrap(), 1);
    }
}

#[tokio::test]
async fn of_two_uses_of_a_signature_at_once_one_is_checked() {
    let mut world = World::new().await;
    for case in cases() {
        let (_, mut device, _) = world.with_passkey(case.account).await;
        let signed = device.sign(&world.options(case.account).await.unwrap());
        let answer = FactorAnswer::Passkey(Box::new(passkeys::Assertion::parse(&signed).unwrap()));
        let (factors, key) = (world.factors(), ceremony(CeremonyPurpose::LogIn));
        let checked = world.twice("SELECT FROM passkey_ceremonies FOR UPDATE", async |conn| {
            factors.check(conn, case.account, &answer, key).await.is_ok()
        });
        assert_eq!(checked.await, 1);
    }
}

#[tokio::test]
async fn passkeys_of_other_accounts_and_removed_ones_prove_nothing() {
    for case in cases() {
        let mut world = World::new().await;
        let (_, mut device, id) = world.with_passkey(case.account).await;
        for other in case.others {
            let (_, mut foreign, _) = world.with_passkey(other).await;
            foreign.origin = origin(case.account).to_owned();
            assert!(is_wrong(world.sign(case.account, &mut foreign).await), "its own id");
            let options = world.options(case.account).await.unwrap();
            assert!(
                is_wrong(world.answer(case.account, &foreign.pretend(&options)).await),
                "the id of another"
            );
            device.origin = origin(other).to_owned();
            assert!(matches!(world.add(other, &mut device).await, Err(FactorError::PasskeyExists)));
            assert!(passkeys::remove(&mut world.conn, other, id).await.unwrap().is_none());
        }
        device.origin = origin(case.account).to_owned();
        let options = world.options(case.account).await.unwrap();
        let removed = passkeys::remove(&mut world.conn, case.account, id).await.unwrap();
        assert_eq!(removed.as_deref(), Some("Laptop"));
        assert!(is_wrong(world.answer(case.account, &device.sign(&options)).await), "removed meanwhile");
        assert!(matches!(world.options(case.account).await, Err(FactorError::UnknownPasskey)));
        assert!(passkeys::remove(&mut world.conn, case.account, id).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn a_copy_of_an_authenticator_is_noticed() {
    let mut world = World::new().await;
    for case in cases() {
        let (_, mut device, _) = world.with_passkey(case.account).await;
        device.counter = 7;
        world.sign(case.account, &mut device).await.unwrap();
        for back in [7, 3] {
            device.counter = back;
            assert!(is_wrong(world.sign(case.account, &mut device).await), "{back}");
        }
        // Both challenges began before either number was known.
        let mut signed = Vec::new();
        for holder in ["one", "other"] {
            let key = CeremonyKey::new(CeremonyPurpose::LogIn, holder);
            let factors = world.factors();
            let options = factors.ask_for_passkey(&mut world.conn, case.account, key).await.unwrap();
            device.counter = 20;
            signed.push((device.sign(&options), key));
        }
        world.answer_to(case.account, &signed[0].0, signed[0].1).await.unwrap();
        assert!(is_wrong(world.answer_to(case.account, &signed[1].0, signed[1].1).await));
    }
}

#[tokio::test]
async fn an_account_has_ten_at_most() {
    let mut world = World::new().await;
    for case in cases() {
        world.with_passkey(case.account).await;
        for _ in 0..8 {
            world.add(case.account, &mut PasskeyDevice::at(origin(case.account))).await.unwrap();
        }
        let options = world.creation_options(case.account).await.unwrap();
        assert_eq!(options["excludeCredentials"].as_array().unwrap().len(), 9);
        // Begun as the tenth in another session, and finished as the eleventh.
        let factors = world.factors();
        let (mut late, key) =
            (PasskeyDevice::at(origin(case.account)), CeremonyKey::new(CeremonyPurpose::Add, "other"));
        let begun =
            factors.begin_passkey(&mut world.conn, (case.account, "x@shop.example"), key).await.unwrap();
        let made = passkeys::Attestation::parse(&late.create(&begun)).unwrap();
        let verified = factors.verify_passkey(&mut world.conn, case.account, &made, key).await.unwrap();
        let tenth = PasskeyDevice::at(origin(case.account)).create(&options);
        world.finish_adding(case.account, &tenth).await.unwrap();
        let eleventh = factors.add_passkey(&mut world.conn, case.account, ("Late", &verified)).await;
        assert!(matches!(eleventh, Err(FactorError::TooManyPasskeys)));
        assert!(matches!(world.creation_options(case.account).await, Err(FactorError::TooManyPasskeys)));
        let oldest = passkeys::list(&mut world.conn, case.account).await.unwrap().remove(0);
        passkeys::remove(&mut world.conn, case.account, oldest.id).await.unwrap();
        world.add(case.account, &mut late).await.unwrap();
    }
}

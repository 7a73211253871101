//! Identities at providers, and visits to them. The operator and the business have the same provider.

use identity::single_sign_on::{SSO_LASTS, SsoIdentity, SsoPurpose, SsoSubject, identities, sso_log_ins};
use identity::{Account, SecretToken};

use crate::world::{BUSINESS, World, cases};

const ISSUER: &str = "https://id.example";

fn identity(subject: &str) -> SsoIdentity {
    SsoIdentity {
        issuer: ISSUER.to_owned(),
        subject: subject.to_owned(),
        email: None,
        email_verified: false,
        hosted_domain: None,
        name: None,
        groups: Vec::new(),
        authenticated_at: None,
    }
}

fn provider_of(account: Account) -> SsoSubject {
    match account {
        Account::User(_) => SsoSubject::Business(BUSINESS.parse().unwrap()),
        Account::Staff(_) => SsoSubject::Staff,
    }
}

#[tokio::test]
async fn an_identity_is_one_of_one_account_and_an_account_has_one_of_a_provider() {
    for case in cases() {
        let mut world = World::new().await;
        let (conn, now) = (&mut world.conn, world.clock.now());
        let (provider, colleague) = (provider_of(case.account), case.others[1]);
        let one = identity("person-1");
        assert!(identities::insert(conn, provider, &one, case.account, now).await.unwrap());
        assert!(!identities::insert(conn, provider, &one, colleague, now).await.unwrap());
        let second = identity("person-2");
        assert!(!identities::insert(conn, provider, &second, case.account, now).await.unwrap());
        assert!(identities::insert(conn, provider, &second, colleague, now).await.unwrap());
        let found = identities::find_staff(conn, &one).await.unwrap().map(Account::Staff);
        assert_eq!(found, Some(case.account).filter(|account| matches!(account, Account::Staff(_))));
    }
}

#[tokio::test]
async fn the_same_identity_is_another_person_in_each_realm() {
    let mut world = World::new().await;
    let (conn, now) = (&mut world.conn, world.clock.now());
    let [user, staff] = cases().map(|case| case.account);
    let one = identity("person-1");
    for account in [user, staff] {
        assert!(identities::insert(conn, provider_of(account), &one, account, now).await.unwrap());
    }
    let Account::Staff(person) = staff else { panic!("a person of the staff") };
    assert_eq!(identities::find_staff(conn, &one).await.unwrap(), Some(person));
    identities::remove_of_business(conn, BUSINESS.parse().unwrap()).await.unwrap();
    assert!(identities::is_linked(conn, person, ISSUER).await.unwrap());
    assert!(!identities::is_linked(conn, person, "https://other.example").await.unwrap());
    assert!(identities::insert(conn, provider_of(user), &one, user, now).await.unwrap());
    identities::remove_of_staff(conn, person).await.unwrap();
    assert!(!identities::is_linked(conn, person, ISSUER).await.unwrap());
    assert_eq!(world.count("identities").await, 1, "that of the user");
}

#[tokio::test]
async fn a_visit_returns_once_in_its_time_to_its_own_provider() {
    let mut world = World::new().await;
    let [user, staff] = cases().map(|case| provider_of(case.account));
    for (provider, other) in [(user, staff), (staff, user)] {
        let (token, now) = (SecretToken::generate(&world.entropy), world.clock.now());
        let of = (provider, ISSUER);
        let purpose = (SsoPurpose::LogIn, None);
        sso_log_ins::insert(&mut world.conn, &token, of, purpose, (now, now + SSO_LASTS)).await.unwrap();
        for (wrong, at) in
            [((other, ISSUER), now), ((provider, "https://other.example"), now), (of, now + SSO_LASTS)]
        {
            assert!(sso_log_ins::take(&mut world.conn, &token, wrong, at).await.unwrap().is_none());
        }
        let returned = world.twice("SELECT FROM sso_log_ins FOR UPDATE", async |conn| {
            sso_log_ins::take(conn, &token, of, now).await.unwrap().is_some()
        });
        assert_eq!(returned.await, 1);
    }
}

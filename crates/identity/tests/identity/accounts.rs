//! Accounts and their addresses.

use domain::{AccountId, Email};
use identity::accounts::{self, LogInBy, NewAccount};
use identity::{Account, Realm};

use crate::world::{BUSINESS, EMAIL, World, cases};

fn email(text: &str) -> Email {
    Email::parse(text).unwrap()
}

impl World {
    async fn create(&mut self, email: &Email, log_in: LogInBy<'_>) -> Option<AccountId> {
        let id = AccountId::generate(&self.clock, &self.entropy);
        let created_at = self.clock.now();
        let new = NewAccount { id, email, email_verified_at: None, name: None, log_in, created_at };
        accounts::insert(&mut self.conn, &new).await.unwrap().then_some(id)
    }

    async fn found(&mut self, realm: Realm, email: &Email) -> Option<Account> {
        Some(accounts::by_email(&mut self.conn, (realm, email)).await.unwrap()?.account)
    }
}

#[tokio::test]
async fn an_address_is_found_in_its_realm_in_any_case() {
    let mut world = World::new().await;
    for case in cases() {
        for text in [EMAIL, "ASHA@shop.example"] {
            assert_eq!(world.found(case.account.realm(), &email(text)).await, Some(case.account));
        }
        let found = accounts::credentials(&mut world.conn, case.account).await.unwrap().unwrap();
        assert_eq!((found.account, found.email.as_str()), (case.account, "Asha@shop.example"));
        assert_eq!(world.found(case.account.realm(), &email("nobody@shop.example")).await, None);
    }
}

#[tokio::test]
async fn an_address_has_one_account_with_a_password_in_a_realm() {
    let mut world = World::new().await;
    assert!(world.create(&email("ASHA@shop.example"), LogInBy::Password("hash")).await.is_none());
    let only_staff = "UPDATE accounts SET email = 'staff@shop.example', email_key = 'staff@shop.example'
        WHERE id = 'stf_01ARZ3NDEKTSV4RRFFQ69G5FAW'";
    diesel_async::RunQueryDsl::execute(diesel::sql_query(only_staff), &mut world.conn).await.unwrap();
    let address = email("staff@shop.example");
    assert!(!accounts::is_taken(&mut world.conn, &address).await.unwrap());
    let business = BUSINESS.parse().unwrap();
    assert!(world.create(&address, LogInBy::ProviderOf(business)).await.is_some());
    assert_eq!(world.found(Realm::User, &address).await, None, "a provider occupies no address");
    let user = world.create(&address, LogInBy::Password("hash")).await.unwrap();
    assert!(accounts::is_taken(&mut world.conn, &address).await.unwrap());
    assert_eq!(world.found(Realm::User, &address).await, Some(Account::User(user)));
    let conn = &mut world.conn;
    let verified = Some(world.clock.now());
    assert!(!accounts::set_email(conn, user, &email(EMAIL), verified).await.unwrap(), "of another user");
    assert!(accounts::set_email(conn, user, &email("new@shop.example"), None).await.unwrap());
    assert!(accounts::verify_email(conn, user, world.clock.now()).await.unwrap());
    assert!(!accounts::verify_email(conn, user, world.clock.now()).await.unwrap(), "once");
}

#[tokio::test]
async fn a_changed_password_is_noticed_and_concerns_one_account() {
    let mut world = World::new().await;
    for case in cases() {
        let conn = &mut world.conn;
        assert!(accounts::lock_unchanged(conn, case.account, Some("hash")).await.unwrap());
        assert!(accounts::set_password(conn, case.account, "another hash").await.unwrap());
        assert!(!accounts::lock_unchanged(conn, case.account, Some("hash")).await.unwrap());
        assert!(!accounts::lock_unchanged(conn, case.account, None).await.unwrap());
        accounts::set_name(conn, case.account, Some("Asha Iyer")).await.unwrap();
        for other in case.others {
            let other = accounts::credentials(conn, other).await.unwrap().unwrap();
            assert_eq!(other.password_hash.as_deref(), Some("hash"));
            assert_ne!(other.name.as_deref(), Some("Asha Iyer"));
        }
        accounts::set_password(conn, case.account, "hash").await.unwrap();
        accounts::set_name(conn, case.account, Some("Asha")).await.unwrap();
    }
}

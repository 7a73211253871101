//! Links that set a password.

use chrono::TimeDelta;
use identity::password_links::{self, Way};
use identity::{Account, LinkToken, Realm};

use crate::world::{World, cases};

const LASTS: TimeDelta = TimeDelta::hours(1);
const MAX: i64 = 3;

impl World {
    async fn issue(&mut self, account: Account, way: Way<'_>) -> LinkToken {
        self.clock.advance(TimeDelta::milliseconds(1));
        let (token, now) = (LinkToken::generate(&self.entropy), self.clock.now());
        let times = (now, now + LASTS);
        password_links::insert(&mut self.conn, (account, way), &token, times, MAX).await.unwrap();
        token
    }

    async fn account_of(&mut self, token: &LinkToken) -> Option<Account> {
        password_links::find(&mut self.conn, token, self.clock.now()).await.unwrap()
    }
}

#[tokio::test]
async fn a_link_works_once_in_its_time_and_for_its_account() {
    let mut world = World::new().await;
    for case in cases() {
        let mailed = world.issue(case.account, Way::Mail("asha@shop.example")).await;
        let by_hand = world.issue(case.account, Way::ByHand(None)).await;
        for other in case.others {
            assert!(password_links::consume(&mut world.conn, other, &mailed).await.unwrap().is_none());
            password_links::remove_all(&mut world.conn, other).await.unwrap();
        }
        for (token, mailed_to) in [(&mailed, Some("asha@shop.example")), (&by_hand, None)] {
            assert_eq!(world.account_of(token).await, Some(case.account), "looking uses nothing up");
            assert_eq!(world.account_of(token).await, Some(case.account));
            let used = password_links::consume(&mut world.conn, case.account, token).await.unwrap().unwrap();
            assert_eq!(used.mailed_to.as_deref(), mailed_to);
            assert!(password_links::consume(&mut world.conn, case.account, token).await.unwrap().is_none());
            assert_eq!(world.account_of(token).await, None);
        }
        let unused = world.issue(case.account, Way::ByHand(None)).await;
        world.clock.advance(LASTS - TimeDelta::milliseconds(1));
        assert_eq!(world.account_of(&unused).await, Some(case.account));
        world.clock.advance(TimeDelta::milliseconds(1));
        assert_eq!(world.account_of(&unused).await, None);
        let now = world.clock.now();
        assert_eq!(password_links::prune(&mut world.conn, now, 100).await.unwrap(), 1);
        assert_eq!(world.account_of(&LinkToken::generate(&world.entropy.clone())).await, None);
    }
}

#[tokio::test]
async fn of_two_uses_of_a_link_at_once_one_succeeds() {
    let mut world = World::new().await;
    for case in cases() {
        let token = world.issue(case.account, Way::ByHand(None)).await;
        let used = world.twice("SELECT FROM password_links FOR UPDATE", async |conn| {
            password_links::consume(conn, case.account, &token).await.unwrap().is_some()
        });
        assert_eq!(used.await, 1);
    }
}

#[tokio::test]
async fn the_oldest_links_beyond_the_limit_go_and_those_of_a_removed_issuer() {
    let mut world = World::new().await;
    let [_, staff] = cases();
    let [_, Account::Staff(issuer)] = staff.others else { panic!("a person of the staff") };
    for case in cases() {
        let of_others = [
            world.issue(case.others[0], Way::ByHand(None)).await,
            world.issue(case.others[1], Way::ByHand(None)).await,
        ];
        let oldest = world.issue(case.account, Way::ByHand(None)).await;
        let issued = world.issue(case.account, Way::ByHand(Some(issuer))).await;
        let mailed = world.issue(case.account, Way::Mail("asha@shop.example")).await;
        assert_eq!(world.account_of(&oldest).await, Some(case.account));
        let newest = world.issue(case.account, Way::ByHand(None)).await;
        assert_eq!(world.account_of(&oldest).await, None);
        let other_realm = if case.account.realm() == Realm::User { Realm::Staff } else { Realm::User };
        for (realm, found) in [(other_realm, Some(case.account)), (case.account.realm(), None)] {
            password_links::remove_issued_by(&mut world.conn, issuer, realm).await.unwrap();
            assert_eq!(world.account_of(&issued).await, found);
        }
        for token in [&mailed, &newest] {
            assert_eq!(world.account_of(token).await, Some(case.account));
        }
        if let Account::User(user) = case.account {
            let now = world.clock.now();
            assert!(password_links::has_mailed(&mut world.conn, user, now).await.unwrap());
            let late = now + LASTS;
            assert!(!password_links::has_mailed(&mut world.conn, user, late).await.unwrap());
        }
        password_links::remove_all(&mut world.conn, case.account).await.unwrap();
        for (token, other) in of_others.iter().zip(case.others) {
            assert_eq!(world.account_of(token).await, Some(other));
        }
    }
}

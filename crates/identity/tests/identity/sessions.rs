//! Who holds sessions, and when they end.

use chrono::{DateTime, TimeDelta, Utc};
use domain::SessionId;
use identity::sessions::{self, Lifetimes, NewSession, Origin, SessionHolder};
use identity::{Account, SecretToken};

use crate::world::{BUSINESS, USERS, World, cases};

const LIFETIMES: Lifetimes = Lifetimes { idle: TimeDelta::minutes(30), max: TimeDelta::minutes(60) };
const MAX: i64 = 3;

#[derive(Clone, Copy)]
struct Opened {
    holder: SessionHolder,
    id: SessionId,
    digest: [u8; 32],
    created_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
}

/// Each kind of holder, with everybody else.
fn holders() -> Vec<(SessionHolder, Vec<SessionHolder>)> {
    let [user, staff] = cases();
    let accounts = [user, staff].map(|case| {
        let others = case.others.iter().map(|other| SessionHolder::Account(*other));
        (case.account.into(), others.chain([SessionHolder::Configuration]).collect())
    });
    let configuration = (SessionHolder::Configuration, vec![user.account.into(), staff.account.into()]);
    accounts.into_iter().chain([configuration]).collect()
}

impl World {
    async fn open(&mut self, holder: SessionHolder) -> Opened {
        self.open_by(holder, false).await
    }

    async fn open_by(&mut self, holder: SessionHolder, single_sign_on: bool) -> Opened {
        self.clock.advance(TimeDelta::milliseconds(1));
        let now = self.clock.now();
        let id = SessionId::generate(&self.clock, &self.entropy);
        let digest = SecretToken::generate(&self.entropy).digest();
        let [user, _] = cases();
        let membership = match holder {
            SessionHolder::Account(account) if account == user.account => Some(USERS[0]),
            SessionHolder::Account(Account::User(_)) => Some(USERS[1]),
            _ => None,
        };
        let expires_at = LIFETIMES.end(now, now);
        let new = NewSession {
            id,
            digest,
            holder,
            user: membership.map(|id| (BUSINESS.parse().unwrap(), id.parse().unwrap())),
            created_at: now,
            authenticated_at: now,
            expires_at,
            single_sign_on,
            origin: Origin { address: None, user_agent: None, new_browser: None },
        };
        sessions::insert(&mut self.conn, &new, now).await.unwrap();
        sessions::end_beyond(&mut self.conn, &new, MAX, now).await.unwrap();
        Opened { holder, id, digest, created_at: now, expires_at }
    }

    /// The open sessions of the holder, newest first.
    async fn listed(&mut self, holder: SessionHolder, lifetimes: Lifetimes) -> Vec<SessionId> {
        let open = lifetimes.at(self.clock.now());
        let listed = sessions::list(&mut self.conn, holder, 100, None, open).await.unwrap().unwrap();
        listed.iter().map(|session| session.id).collect()
    }

    async fn is_open(&mut self, session: Opened) -> bool {
        self.listed(session.holder, LIFETIMES).await.contains(&session.id)
    }

    /// As a call does that its person has made.
    async fn use_it(&mut self, session: &mut Opened) {
        let now = self.clock.now();
        let until = LIFETIMES.extend((session.created_at, session.expires_at), false, now);
        sessions::mark_used(&mut self.conn, session.id, until, now).await.unwrap();
        session.expires_at = until.unwrap_or(session.expires_at);
    }
}

#[tokio::test]
async fn a_session_ends_exactly_at_its_idle_limit_and_at_its_longest_age() {
    const SECOND: TimeDelta = TimeDelta::seconds(1);
    let mut world = World::new().await;
    for (holder, _) in holders() {
        let (idle, mut busy) = (world.open(holder).await, world.open(holder).await);
        world.clock.advance(TimeDelta::minutes(20));
        world.use_it(&mut busy).await;
        world.clock.advance(idle.expires_at - world.clock.now() - SECOND);
        assert!(world.is_open(idle).await && world.is_open(busy).await);
        for shorter in [
            Lifetimes { max: TimeDelta::minutes(20), ..LIFETIMES },
            Lifetimes { idle: TimeDelta::minutes(5), ..LIFETIMES },
        ] {
            assert!(world.listed(holder, shorter).await.is_empty(), "a shorter setting counts at once");
        }
        world.clock.advance(SECOND);
        assert!(!world.is_open(idle).await && world.is_open(busy).await);
        world.clock.advance(TimeDelta::minutes(15));
        world.use_it(&mut busy).await;
        assert_eq!(busy.expires_at, busy.created_at + LIFETIMES.max);
        world.clock.advance(busy.expires_at - world.clock.now() - SECOND);
        assert!(world.is_open(busy).await);
        world.clock.advance(SECOND);
        assert!(!world.is_open(busy).await);
        world.use_it(&mut busy).await;
        assert!(!world.is_open(busy).await, "a use does not open it again");
    }
}

#[tokio::test]
async fn a_session_is_seen_and_ended_by_its_holder_only_and_others_stay() {
    let mut world = World::new().await;
    for (holder, others) in holders() {
        let (first, second, third) =
            (world.open(holder).await, world.open(holder).await, world.open(holder).await);
        let now = world.clock.now();
        let mut strangers = Vec::new();
        for other in &others {
            strangers.push(world.open(*other).await);
        }
        let all: Vec<_> = [third, second, first].iter().map(|session| session.id).collect();
        assert_eq!(world.listed(holder, LIFETIMES).await, all);
        let open = LIFETIMES.at(now);
        for other in &others {
            let conn = &mut world.conn;
            assert!(!sessions::end(conn, *other, first.id, now).await.unwrap());
            let page = sessions::list(conn, *other, 1, Some(first.id), open).await.unwrap();
            assert!(page.is_none(), "it is no cursor of another list");
            if other.realm() != holder.realm() {
                sessions::end_by_digest(conn, other.realm(), [first.digest; 2], now).await.unwrap();
            }
        }
        assert_eq!(world.listed(holder, LIFETIMES).await, all, "nobody else ends them");
        assert!(sessions::end(&mut world.conn, holder, first.id, now).await.unwrap());
        assert!(!sessions::end(&mut world.conn, holder, first.id, now).await.unwrap(), "it has ended");
        let page = sessions::list(&mut world.conn, holder, 1, Some(first.id), open).await.unwrap();
        assert!(page.is_some(), "an ended session is still a cursor");
        assert_eq!(world.listed(holder, LIFETIMES).await, all[..2]);
        assert_eq!(sessions::end_all(&mut world.conn, holder, Some(second.id), now).await.unwrap(), 1);
        assert_eq!(world.listed(holder, LIFETIMES).await, all[1..2], "all but this one");
        let digests = [[0; 32], second.digest];
        sessions::end_by_digest(&mut world.conn, holder.realm(), digests, now).await.unwrap();
        assert!(!world.is_open(second).await);
        for stranger in strangers {
            assert!(world.is_open(stranger).await);
            assert_eq!(sessions::end_all(&mut world.conn, stranger.holder, None, now).await.unwrap(), 1);
        }
    }
}

#[tokio::test]
async fn a_renewed_token_voids_the_former_one_and_of_two_renewals_at_once_one_succeeds() {
    let mut world = World::new().await;
    for (holder, _) in holders() {
        let session = world.open(holder).await;
        let (now, entropy) = (world.clock.now(), world.entropy.clone());
        let renewed = world.twice("SELECT FROM sessions FOR UPDATE", async |conn| {
            let new = SecretToken::generate(&entropy).digest();
            sessions::renew(conn, (session.digest, new), now).await.unwrap()
        });
        assert_eq!(renewed.await, 1);
        let conn = &mut world.conn;
        sessions::end_by_digest(conn, holder.realm(), [session.digest; 2], now).await.unwrap();
        assert!(!sessions::renew(conn, (session.digest, [1; 32]), now).await.unwrap());
        assert!(world.is_open(session).await, "the former token is not even good to log out");
        assert!(sessions::end(&mut world.conn, holder, session.id, now).await.unwrap());

        let ended = world.open(holder).await;
        assert!(sessions::end(&mut world.conn, holder, ended.id, now).await.unwrap());
        assert!(!sessions::renew(&mut world.conn, (ended.digest, [1; 32]), now).await.unwrap());
    }
}

/// A provider must not end the sessions of a password, nor the other way round.
#[tokio::test]
async fn the_oldest_sessions_beyond_the_limit_end() {
    let mut world = World::new().await;
    for (holder, others) in holders() {
        let elsewhere = world.open(others[0]).await;
        let by_provider = world.open_by(holder, true).await;
        let mut opened = Vec::new();
        for _ in 0..5 {
            opened.push(world.open(holder).await.id);
        }
        opened.reverse();
        opened.truncate(3);
        opened.push(by_provider.id);
        assert_eq!(world.listed(holder, LIFETIMES).await, opened);
        for _ in 0..3 {
            world.open_by(holder, true).await;
        }
        assert!(!world.is_open(by_provider).await);
        assert_eq!(world.listed(holder, LIFETIMES).await[3..], opened[..3]);
        assert!(world.is_open(elsewhere).await);
        let now = world.clock.now();
        if let SessionHolder::Account(account) = holder {
            assert_eq!(sessions::end_single_sign_on(&mut world.conn, account, now).await.unwrap(), 3);
            assert_eq!(world.listed(holder, LIFETIMES).await, opened[..3]);
        }
        sessions::end_all(&mut world.conn, holder, None, now).await.unwrap();
        sessions::end_all(&mut world.conn, others[0], None, now).await.unwrap();
    }
}

#[tokio::test]
async fn a_session_of_the_configured_token_is_found_by_its_digest_only() {
    let mut world = World::new().await;
    let open = LIFETIMES.at(world.clock.now());
    for (holder, _) in holders() {
        let session = world.open(holder).await;
        let found = sessions::of_configuration(&mut world.conn, [session.digest], open).await.unwrap();
        let is_found = found.is_some_and(|found| found.session == session.id);
        assert_eq!(is_found, holder == SessionHolder::Configuration);
    }
    assert!(sessions::of_configuration(&mut world.conn, [[0; 32]], open).await.unwrap().is_none());
    world.clock.advance(LIFETIMES.max);
    let now = world.clock.now();
    assert_eq!(sessions::prune(&mut world.conn, now, 100).await.unwrap(), 3);
}

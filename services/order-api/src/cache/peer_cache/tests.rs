//! The rules of SPECIFICATION §10.2, on a clock that the tests move.

use std::future::{pending, ready};

use tokio::sync::oneshot;

use super::*;

type Cache = Arc<PeerCache<Option<u32>>>;

fn cache() -> (Clock, Cache) {
    let clock = Clock::manual(DateTime::UNIX_EPOCH);
    (clock.clone(), PeerCache::new(clock, Option::is_some))
}

fn unreachable() -> Answer<Option<u32>> {
    Err(CallError::Unavailable { service: "peer", reason: "gone".into() })
}

async fn answered(cache: &Cache, answer: Answer<Option<u32>>) -> Answer<Option<u32>> {
    cache.get("k", || ready(answer)).await
}

async fn cached(cache: &Cache) -> Option<u32> {
    cache.get("k", || -> std::future::Ready<_> { panic!("called") }).await.unwrap()
}

/// Waits until no call is in flight.
async fn until_idle(cache: &Cache) {
    while !cache.lock().calls.is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_positive_answer_is_cached_five_seconds_and_a_negative_one_never() {
    let (clock, cache) = cache();
    assert_eq!(answered(&cache, Ok(None)).await.unwrap(), None);
    assert_eq!(answered(&cache, Ok(Some(1))).await.unwrap(), Some(1));
    clock.advance(TimeDelta::milliseconds(4_999));
    assert_eq!(cached(&cache).await, Some(1));
    clock.advance(TimeDelta::milliseconds(1));
    assert_eq!(answered(&cache, Ok(None)).await.unwrap(), None);
    assert!(answered(&cache, unreachable()).await.is_err(), "a negative answer drops the old one");
}

#[tokio::test]
async fn the_five_seconds_begin_with_the_call() {
    let (clock, cache) = cache();
    let slow = clock.clone();
    let fetched = cache.get("k", || async move {
        slow.advance(TimeDelta::seconds(4));
        Ok(Some(1))
    });
    assert_eq!(fetched.await.unwrap(), Some(1));
    clock.advance(TimeDelta::seconds(1));
    assert_eq!(answered(&cache, Ok(Some(2))).await.unwrap(), Some(2), "1 is five seconds old");
}

#[tokio::test]
async fn the_last_answer_is_served_for_a_minute_while_the_peer_is_unreachable() {
    let (clock, cache) = cache();
    answered(&cache, Ok(Some(1))).await.unwrap();
    clock.advance(TimeDelta::seconds(59));
    assert_eq!(answered(&cache, unreachable()).await.unwrap(), Some(1));
    assert_eq!(cache.last("k"), Some(Some(1)));
    clock.advance(TimeDelta::seconds(1));
    assert_eq!(cache.last("k"), None);
    assert!(answered(&cache, unreachable()).await.is_err());
}

#[tokio::test]
async fn a_hanging_peer_delays_one_caller_and_then_nobody() {
    let (clock, cache) = cache();
    answered(&cache, Ok(Some(1))).await.unwrap();
    clock.advance(TimeDelta::seconds(6));
    // Only the time limit ends this: the call has no answer yet.
    let (answer, received) = oneshot::channel();
    let first = cache.get("k", || async move { received.await.unwrap_or_else(|_| unreachable()) }).await;
    assert_eq!(first.unwrap(), Some(1));
    // The call is still in flight. No caller waits for it or makes another one.
    for _ in 0..100 {
        assert_eq!(cached(&cache).await, Some(1));
    }
    // Its late answer still counts.
    answer.send(Ok(None)).unwrap();
    until_idle(&cache).await;
    assert!(answered(&cache, unreachable()).await.is_err(), "the late answer was no");
}

#[tokio::test]
async fn after_a_failure_one_call_at_a_time_probes_the_peer() {
    let (clock, cache) = cache();
    answered(&cache, Ok(Some(1))).await.unwrap();
    clock.advance(TimeDelta::seconds(6));
    assert_eq!(answered(&cache, unreachable()).await.unwrap(), Some(1));
    let (answer, received) = oneshot::channel();
    let probed = cache.get("k", || async move { received.await.unwrap_or_else(|_| unreachable()) }).await;
    assert_eq!(probed.unwrap(), Some(1), "no caller waits for the probe");
    assert_eq!(cached(&cache).await, Some(1));
    answer.send(Ok(Some(2))).unwrap();
    until_idle(&cache).await;
    assert_eq!(cached(&cache).await, Some(2), "the probe's answer is fresh");
    clock.advance(TimeDelta::seconds(5));
    assert_eq!(
        answered(&cache, Ok(Some(3))).await.unwrap(),
        Some(3),
        "the peer is reachable again, and callers wait for it"
    );
}

#[tokio::test]
async fn callers_wait_again_some_time_after_a_failure() {
    let (clock, cache) = cache();
    answered(&cache, Ok(Some(1))).await.unwrap();
    clock.advance(TimeDelta::seconds(6));
    assert_eq!(answered(&cache, unreachable()).await.unwrap(), Some(1));
    clock.advance(UNREACHABLE);
    assert_eq!(answered(&cache, Ok(None)).await.unwrap(), None);
}

#[tokio::test]
async fn callers_of_one_key_share_one_call() {
    let (_clock, cache) = cache();
    let (answer, received) = oneshot::channel();
    let first = cache.get("k", || async move { received.await.unwrap_or_else(|_| unreachable()) });
    let joined = cache.get("k", || -> std::future::Ready<_> { panic!("called twice") });
    let answering = async { answer.send(Ok(Some(1))).unwrap() };
    let (first, joined, ()) = tokio::join!(first, joined, answering);
    assert_eq!((first.unwrap(), joined.unwrap()), (Some(1), Some(1)));
}

#[tokio::test]
async fn a_caller_that_disconnects_affects_no_other() {
    let (_clock, cache) = cache();
    let (answer, received) = oneshot::channel();
    {
        let gone = cache.get("k", || async move { received.await.unwrap_or_else(|_| unreachable()) });
        tokio::select! {
            biased;
            _ = gone => panic!("nothing was answered yet"),
            () = ready(()) => {}
        }
    }
    let waiting = cache.get("k", pending);
    let answering = async { answer.send(Ok(Some(1))).unwrap() };
    assert_eq!(tokio::join!(waiting, answering).0.unwrap(), Some(1));
}

#[tokio::test]
async fn an_invalidation_drops_an_answer_and_voids_the_call_in_flight() {
    let (_clock, cache) = cache();
    answered(&cache, Ok(Some(1))).await.unwrap();
    cache.invalidate(|_, value| *value == Some(1));
    assert!(answered(&cache, unreachable()).await.is_err());
    let during_the_call = Arc::clone(&cache);
    let fetched = cache.get("k", || async move {
        during_the_call.invalidate(|_, _| false);
        Ok(Some(2))
    });
    assert_eq!(fetched.await.unwrap(), Some(2));
    assert_eq!(answered(&cache, Ok(Some(3))).await.unwrap(), Some(3), "2 was not cached");
}

#[tokio::test]
async fn no_caller_joins_a_call_from_before_an_invalidation() {
    let (_clock, cache) = cache();
    let (answer, received) = oneshot::channel();
    let before = cache.get("k", || async move { received.await.unwrap_or_else(|_| unreachable()) });
    let after = async {
        cache.invalidate(|_, _| false);
        let found = answered(&cache, Ok(None)).await;
        answer.send(Ok(Some(1))).unwrap();
        found
    };
    let (before, after) = tokio::join!(before, after);
    assert_eq!((before.unwrap(), after.unwrap()), (Some(1), None));
    assert_eq!(answered(&cache, Ok(Some(4))).await.unwrap(), Some(4), "1 was not cached");
}

#[tokio::test]
async fn an_unreachable_peer_does_not_delay_an_invalidation() {
    let (clock, cache) = cache();
    answered(&cache, Ok(Some(1))).await.unwrap();
    clock.advance(TimeDelta::seconds(6));
    assert_eq!(answered(&cache, unreachable()).await.unwrap(), Some(1));
    cache.invalidate(|_, value| *value == Some(1));
    assert!(
        answered(&cache, unreachable()).await.is_err(),
        "dropped immediately, though the peer is unreachable"
    );
}

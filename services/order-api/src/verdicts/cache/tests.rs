//! The rules of SPECIFICATION §10, by a clock that the tests move.

use std::future::{pending, ready};

use tokio::sync::oneshot;

use super::*;

type Cache = Arc<VerdictCache<Option<u32>>>;

fn cache() -> (Clock, Cache) {
    let clock = Clock::manual(DateTime::UNIX_EPOCH);
    (clock.clone(), VerdictCache::new(clock, Option::is_some))
}

fn unreachable() -> Answer<Option<u32>> {
    Err(CallError::Unavailable { service: "peer", reason: "gone".into() })
}

async fn says(cache: &Cache, answer: Answer<Option<u32>>) -> Answer<Option<u32>> {
    cache.get("k", || ready(answer)).await
}

async fn without_asking(cache: &Cache) -> Option<u32> {
    cache.get("k", || -> std::future::Ready<_> { panic!("asked") }).await.unwrap()
}

/// Until the asking that was started has ended.
async fn settled(cache: &Cache) {
    while !cache.lock().asking.is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_positive_verdict_is_kept_five_seconds_and_a_negative_one_never() {
    let (clock, cache) = cache();
    assert_eq!(says(&cache, Ok(None)).await.unwrap(), None);
    assert_eq!(says(&cache, Ok(Some(1))).await.unwrap(), Some(1));
    clock.advance(TimeDelta::milliseconds(4_999));
    assert_eq!(without_asking(&cache).await, Some(1));
    clock.advance(TimeDelta::milliseconds(1));
    assert_eq!(says(&cache, Ok(None)).await.unwrap(), None);
    assert!(says(&cache, unreachable()).await.is_err(), "a negative answer drops the old one");
}

#[tokio::test]
async fn the_five_seconds_begin_with_the_asking() {
    let (clock, cache) = cache();
    let slow = clock.clone();
    let asked = cache.get("k", || async move {
        slow.advance(TimeDelta::seconds(4));
        Ok(Some(1))
    });
    assert_eq!(asked.await.unwrap(), Some(1));
    clock.advance(TimeDelta::seconds(1));
    assert_eq!(says(&cache, Ok(Some(2))).await.unwrap(), Some(2), "1 is five seconds old");
}

#[tokio::test]
async fn the_last_verdict_serves_a_minute_while_the_peer_is_away() {
    let (clock, cache) = cache();
    says(&cache, Ok(Some(1))).await.unwrap();
    clock.advance(TimeDelta::seconds(59));
    assert_eq!(says(&cache, unreachable()).await.unwrap(), Some(1));
    assert_eq!(cache.last("k"), Some(Some(1)));
    clock.advance(TimeDelta::seconds(1));
    assert_eq!(cache.last("k"), None);
    assert!(says(&cache, unreachable()).await.is_err());
}

#[tokio::test]
async fn a_peer_that_hangs_is_waited_for_once_and_then_asked_beside() {
    let (clock, cache) = cache();
    says(&cache, Ok(Some(1))).await.unwrap();
    clock.advance(TimeDelta::seconds(6));
    // Nothing but the patience ends this: the question is not answered yet.
    let (answer, asked) = oneshot::channel();
    let first = cache.get("k", || async move { asked.await.unwrap_or_else(|_| unreachable()) }).await;
    assert_eq!(first.unwrap(), Some(1));
    // The question is still under way; nobody asks another one, nor waits.
    for _ in 0..100 {
        assert_eq!(without_asking(&cache).await, Some(1));
    }
    // Its answer is heard, late as it is.
    answer.send(Ok(None)).unwrap();
    settled(&cache).await;
    assert!(says(&cache, unreachable()).await.is_err(), "the late answer was no");
}

#[tokio::test]
async fn after_a_failure_one_question_at_a_time_finds_out_whether_the_peer_is_back() {
    let (clock, cache) = cache();
    says(&cache, Ok(Some(1))).await.unwrap();
    clock.advance(TimeDelta::seconds(6));
    assert_eq!(says(&cache, unreachable()).await.unwrap(), Some(1));
    let (answer, asked) = oneshot::channel();
    let probed = cache.get("k", || async move { asked.await.unwrap_or_else(|_| unreachable()) }).await;
    assert_eq!(probed.unwrap(), Some(1), "nobody waits for the probe");
    assert_eq!(without_asking(&cache).await, Some(1));
    answer.send(Ok(Some(2))).unwrap();
    settled(&cache).await;
    assert_eq!(without_asking(&cache).await, Some(2), "the probe's answer is fresh");
    clock.advance(TimeDelta::seconds(5));
    assert_eq!(says(&cache, Ok(Some(3))).await.unwrap(), Some(3), "the peer is back, and waited for");
}

#[tokio::test]
async fn a_peer_that_was_away_is_waited_for_again_after_a_while() {
    let (clock, cache) = cache();
    says(&cache, Ok(Some(1))).await.unwrap();
    clock.advance(TimeDelta::seconds(6));
    assert_eq!(says(&cache, unreachable()).await.unwrap(), Some(1));
    clock.advance(AWAY);
    assert_eq!(says(&cache, Ok(None)).await.unwrap(), None);
}

#[tokio::test]
async fn questions_about_one_key_are_asked_once() {
    let (_clock, cache) = cache();
    let (answer, asked) = oneshot::channel();
    let first = cache.get("k", || async move { asked.await.unwrap_or_else(|_| unreachable()) });
    let joined = cache.get("k", || -> std::future::Ready<_> { panic!("asked twice") });
    let told = async { answer.send(Ok(Some(1))).unwrap() };
    let (first, joined, ()) = tokio::join!(first, joined, told);
    assert_eq!((first.unwrap(), joined.unwrap()), (Some(1), Some(1)));
}

#[tokio::test]
async fn who_goes_away_takes_nobody_along() {
    let (_clock, cache) = cache();
    let (answer, asked) = oneshot::channel();
    {
        let gone = cache.get("k", || async move { asked.await.unwrap_or_else(|_| unreachable()) });
        tokio::select! {
            biased;
            _ = gone => panic!("nothing was answered yet"),
            () = ready(()) => {}
        }
    }
    let waits = cache.get("k", pending);
    let told = async { answer.send(Ok(Some(1))).unwrap() };
    assert_eq!(tokio::join!(waits, told).0.unwrap(), Some(1));
}

#[tokio::test]
async fn news_drops_a_verdict_and_keeps_an_answer_under_way_out() {
    let (_clock, cache) = cache();
    says(&cache, Ok(Some(1))).await.unwrap();
    cache.drop_where(|_, verdict| *verdict == Some(1));
    assert!(says(&cache, unreachable()).await.is_err());
    let newsmonger = Arc::clone(&cache);
    let asked = cache.get("k", || async move {
        newsmonger.drop_where(|_, _| false);
        Ok(Some(2))
    });
    assert_eq!(asked.await.unwrap(), Some(2));
    assert_eq!(says(&cache, Ok(Some(3))).await.unwrap(), Some(3), "2 was not kept");
}

#[tokio::test]
async fn nobody_joins_a_question_from_before_the_news() {
    let (_clock, cache) = cache();
    let (answer, asked) = oneshot::channel();
    let before = cache.get("k", || async move { asked.await.unwrap_or_else(|_| unreachable()) });
    let after = async {
        cache.drop_where(|_, _| false);
        let found = says(&cache, Ok(None)).await;
        answer.send(Ok(Some(1))).unwrap();
        found
    };
    let (before, after) = tokio::join!(before, after);
    assert_eq!((before.unwrap(), after.unwrap()), (Some(1), None));
    assert_eq!(says(&cache, Ok(Some(4))).await.unwrap(), Some(4), "1 was not kept");
}

#[tokio::test]
async fn a_peer_that_is_away_holds_nothing_back_from_the_news() {
    let (clock, cache) = cache();
    says(&cache, Ok(Some(1))).await.unwrap();
    clock.advance(TimeDelta::seconds(6));
    assert_eq!(says(&cache, unreachable()).await.unwrap(), Some(1));
    cache.drop_where(|_, verdict| *verdict == Some(1));
    assert!(says(&cache, unreachable()).await.is_err(), "dropped at once, away or not");
}

//! A token bucket: an endpoint's webhooks per second. It holds the tokens of one second, but at least one.

use std::time::Duration;

use tokio::time::Instant;

/// While a rate limit is reached, claims of the endpoint are at least this long apart: each costs a transaction.
const TOKENS_GATHER: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    tokens: f64,
    filled_at: Instant,
}

impl Bucket {
    /// Empty at that time.
    pub(super) fn empty(at: Instant) -> Self {
        Self { tokens: 0.0, filled_at: at }
    }

    /// Another instance may have used the rate until now. What was used too early stays owed.
    pub(super) fn drain(&mut self, now: Instant) {
        self.tokens = self.tokens.min(0.0);
        self.filled_at = now;
    }

    pub(super) fn fill(&mut self, rate: f64, now: Instant) {
        let passed = now.saturating_duration_since(self.filled_at);
        self.tokens = (self.tokens + passed.as_secs_f64() * rate).min(rate.max(1.0));
        self.filled_at = self.filled_at.max(now);
    }

    pub(super) fn whole_tokens(&self) -> i64 {
        #[expect(clippy::cast_possible_truncation, reason = "a float between -u32::MAX and u32::MAX")]
        let whole = self.tokens.floor() as i64;
        whole.max(0)
    }

    pub(super) fn take(&mut self, tokens: i64) {
        self.tokens -= f64::from(i32::try_from(tokens).unwrap_or(i32::MAX));
    }

    pub(super) fn give_back(&mut self, tokens: i64) {
        self.take(-tokens);
    }

    /// Until the next token.
    pub(super) fn next_token(&self, rate: f64) -> Duration {
        let seconds = (1.0 - self.tokens).max(0.0) / rate;
        Duration::from_secs_f64(seconds).max(TOKENS_GATHER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_fills_up_to_one_second() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut bucket = Bucket::empty(start);
        bucket.fill(5.0, at(450));
        assert_eq!((bucket.whole_tokens(), bucket.next_token(5.0)), (2, TOKENS_GATHER));
        bucket.take(3);
        assert_eq!((bucket.whole_tokens(), bucket.next_token(5.0)), (0, Duration::from_millis(350)));
        bucket.fill(5.0, at(60_000));
        assert_eq!(bucket.whole_tokens(), 5);
        bucket.drain(at(60_000));
        assert_eq!(bucket.whole_tokens(), 0);
        bucket.fill(0.5, at(62_000));
        assert_eq!(bucket.whole_tokens(), 1, "at least one");
    }
}

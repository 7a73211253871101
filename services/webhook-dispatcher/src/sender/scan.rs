//! Looks for due deliveries that nothing has noted: those of a killed process, of endpoints whose pause has ended, and
//! those whose time has come. Page by page, so that any number of endpoints costs the database little at a time.

use std::time::Duration;

use chrono::{DateTime, Utc};
use postgres::StoreError;
use tokio::time::Instant;

use super::Sender;
use crate::store::{self, DuePage};

/// Between two passes.
const POLL: Duration = Duration::from_secs(1);
/// Between two pages of a pass.
const PAGE_PAUSE: Duration = Duration::from_millis(40);
const PAGE: i64 = 64;
/// A slow page is followed by a rest of this many times its own duration, in which claims run.
const REST: u32 = 4;
const REST_MAX: Duration = Duration::from_secs(5);

/// A pass through all endpoints with unfinished deliveries.
pub(super) struct Scan {
    next_at: Instant,
    after: String,
    oldest: Option<DateTime<Utc>>,
    /// Another pass was requested during this one.
    again: bool,
    /// The latest page has failed.
    failing: bool,
    /// The rest after the latest page.
    rest_until: Instant,
}

impl Scan {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            next_at: now,
            after: String::new(),
            oldest: None,
            again: false,
            failing: false,
            rest_until: now,
        }
    }

    /// When the next page is due.
    pub(super) fn next_at(&self) -> Instant {
        self.next_at
    }

    /// Begins a pass as soon as the rest is over, or after the current pass.
    pub(super) fn request(&mut self, now: Instant) {
        if self.after.is_empty() {
            self.next_at = now.max(self.rest_until);
        } else {
            self.again = true;
        }
    }

    /// The page is tried again. True if the one before it has not failed.
    fn failed(&mut self, (began, now): (Instant, Instant)) -> bool {
        self.rest_until = now + rest_after(now - began);
        self.next_at = self.rest_until.max(now + POLL);
        !std::mem::replace(&mut self.failing, true)
    }

    /// Returns since when the oldest delivery is due, after the last page of a pass.
    fn found(&mut self, page: &DuePage, (began, now): (Instant, Instant)) -> Option<Option<DateTime<Utc>>> {
        self.rest_until = now + rest_after(now - began);
        self.failing = false;
        self.oldest = self.oldest.into_iter().chain(page.oldest).min();
        if let Some(next) = &page.next {
            self.after.clone_from(next);
            self.next_at = self.rest_until.max(now + PAGE_PAUSE);
            return None;
        }
        self.after.clear();
        let earliest = if std::mem::take(&mut self.again) { now } else { now + POLL };
        self.next_at = self.rest_until.max(earliest);
        Some(self.oldest.take())
    }
}

fn rest_after(page: Duration) -> Duration {
    (page * REST).min(REST_MAX)
}

impl Sender {
    /// Never ends.
    pub(super) async fn scan(&self) {
        let mut scan = Scan::new(Instant::now());
        loop {
            tokio::select! {
                () = self.scan_requested.notified() => scan.request(Instant::now()),
                () = tokio::time::sleep_until(scan.next_at()) => self.look(&mut scan).await,
            }
        }
    }

    /// Looks at the next page, and retries it until it succeeds.
    async fn look(&self, scan: &mut Scan) {
        let began = Instant::now();
        let (after, parts) = (scan.after.as_str(), self.schedule.preferring_parts());
        let look = async |conn: &mut _| store::scan_due(conn, after, PAGE, parts.as_deref()).await;
        let page: DuePage = match self.database.read(look).await {
            Ok(page) => page,
            Err(error) => {
                let error: StoreError = error;
                if scan.failed((began, Instant::now())) {
                    tracing::warn!(%error, "looking for due webhooks failed; it is retried until it succeeds");
                }
                return;
            }
        };
        for (endpoint, business, mode) in &page.due {
            self.schedule.note_scanned((*endpoint, *business), *mode);
        }
        if let Some(oldest) = scan.found(&page, (began, Instant::now())) {
            self.schedule.forget_idle();
            let age = oldest.and_then(|since| (page.at - since).to_std().ok()).unwrap_or_default();
            metrics::gauge!("webhook_oldest_due_age_seconds").set(age);
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn a_pass_goes_page_by_page_and_reports_the_oldest() {
        let (start, due) = (Instant::now(), DateTime::UNIX_EPOCH);
        let page = |next: Option<&str>, seconds: Option<i64>| DuePage {
            due: Vec::new(),
            oldest: seconds.map(|seconds| due + TimeDelta::seconds(seconds)),
            at: due,
            next: next.map(str::to_owned),
        };
        let mut scan = Scan::new(start);
        let at_once = (start, start);
        assert_eq!(scan.found(&page(Some("a"), Some(2)), at_once), None);
        assert_eq!((scan.after.as_str(), scan.next_at()), ("a", start + PAGE_PAUSE));
        scan.request(start);
        assert_eq!(scan.found(&page(Some("b"), Some(1)), at_once), None);
        assert_eq!(scan.found(&page(None, None), at_once), Some(Some(due + TimeDelta::seconds(1))));
        assert_eq!((scan.after.as_str(), scan.next_at()), ("", start), "another pass was requested");
        assert_eq!(scan.found(&page(None, None), at_once), Some(None));
        assert_eq!(scan.next_at(), start + POLL);
        scan.request(start);
        assert_eq!(scan.next_at(), start);
    }
    #[test]
    fn slow_and_failing_pages_leave_most_of_the_time_to_claims() {
        let began = Instant::now();
        let slow = (began, began + Duration::from_secs(2));
        let page = |next: Option<&str>| DuePage { next: next.map(str::to_owned), ..DuePage::default() };
        let mut scan = Scan::new(began);
        for next in [Some("a"), None] {
            scan.found(&page(next), slow);
            assert_eq!(scan.next_at(), slow.1 + REST_MAX);
        }
        scan.request(slow.1);
        assert_eq!(scan.next_at(), slow.1 + REST_MAX, "a requested pass waits, too");
        assert!(scan.failed((began, began)) && !scan.failed((began, began)), "reported once");
        assert_eq!(scan.next_at(), began + POLL);
        scan.found(&page(None), slow);
        assert!(scan.failed(slow));
        assert_eq!(scan.next_at(), slow.1 + REST_MAX);
    }
}

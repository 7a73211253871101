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

/// A pass through all endpoints with unfinished deliveries.
pub(super) struct Scan {
    next_at: Instant,
    after: String,
    oldest: Option<DateTime<Utc>>,
    /// Another pass was requested during this one.
    again: bool,
}

impl Scan {
    pub(super) fn new(now: Instant) -> Self {
        Self { next_at: now, after: String::new(), oldest: None, again: false }
    }

    /// When the next page is due.
    pub(super) fn next_at(&self) -> Instant {
        self.next_at
    }

    /// Begins a pass now, or after the current one.
    pub(super) fn request(&mut self, now: Instant) {
        if self.after.is_empty() {
            self.next_at = now;
        } else {
            self.again = true;
        }
    }

    /// Puts off the next page while the database is unreachable.
    pub(super) fn postpone(&mut self, until: Instant) {
        self.next_at = until;
    }

    /// Returns since when the oldest delivery is due, after the last page of a pass.
    fn found(&mut self, page: &DuePage, now: Instant) -> Option<Option<DateTime<Utc>>> {
        self.oldest = self.oldest.into_iter().chain(page.oldest).min();
        if let Some(next) = &page.next {
            self.after.clone_from(next);
            self.next_at = now + PAGE_PAUSE;
            return None;
        }
        self.after.clear();
        self.next_at = if std::mem::take(&mut self.again) { now } else { now + POLL };
        Some(self.oldest.take())
    }
}

impl Sender {
    /// Looks at the next page.
    pub(super) async fn scan(&self, scan: &mut Scan) -> Result<(), StoreError> {
        let now = self.unit.clock.now();
        let after = scan.after.as_str();
        let page =
            self.unit.database.read(async |conn| store::scan_due(conn, after, PAGE, now).await).await?;
        self.capacity.note_scanned(&page.due, now);
        if let Some(oldest) = scan.found(&page, Instant::now()) {
            let age = oldest.and_then(|since| (now - since).to_std().ok()).unwrap_or_default();
            metrics::gauge!("webhook_oldest_due_age_seconds").set(age);
        }
        Ok(())
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
            next: next.map(str::to_owned),
        };
        let mut scan = Scan::new(start);
        assert_eq!(scan.found(&page(Some("a"), Some(2)), start), None);
        assert_eq!((scan.after.as_str(), scan.next_at()), ("a", start + PAGE_PAUSE));
        scan.request(start);
        assert_eq!(scan.found(&page(Some("b"), Some(1)), start), None);
        assert_eq!(scan.found(&page(None, None), start), Some(Some(due + TimeDelta::seconds(1))));
        assert_eq!((scan.after.as_str(), scan.next_at()), ("", start), "another pass was requested");
        assert_eq!(scan.found(&page(None, None), start), Some(None));
        assert_eq!(scan.next_at(), start + POLL);
        scan.request(start);
        assert_eq!(scan.next_at(), start);
    }
}

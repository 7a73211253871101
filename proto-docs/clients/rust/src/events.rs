//! The feed of events: everything that webhooks report, in order, to catch up after an outage or to replace them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use std::vec::IntoIter;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::elements::elements_of;
use crate::orders::{Listed, PAGE_MAX, Pages, is_id};
use crate::retry;
use crate::transport::{Call, Transport};
use crate::types::Answered;
use crate::webhooks::PREFIX;
use crate::{Error, NoAnswer, Result, WebhookEvent};

/// The longest wait that the service allows.
const WAIT_MAX_SECONDS: u32 = 25;
/// A reader waits no longer than this, whatever `Retry-After` says.
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// Polls in a row without a usable answer: a captive portal or a wrong address, which waiting does not end.
const UNUSABLE_MAX: u32 = 10;

/// The feed of events.
#[derive(Clone, Debug)]
pub struct Events {
    transport: Arc<Transport>,
}

/// Which events a page contains.
#[derive(Clone, Debug, Default)]
pub struct EventFilters {
    /// A page's `next`, an event's id, or `now` for only later events.
    pub starting_after: Option<String>,
    /// RFC 3339; only without a cursor.
    pub since: Option<String>,
    /// Kinds of events; all if empty.
    pub types: Vec<String>,
    /// 1 to 100.
    pub limit: Option<u32>,
    /// How long the service waits for the first event.
    pub wait_seconds: u32,
}

#[derive(Clone, Debug)]
pub struct EventPage {
    pub data: Vec<WebhookEvent>,
    /// The body of each event's webhook, byte for byte.
    pub bodies: Vec<String>,
    /// Whether more events may follow now, even if `data` is empty.
    pub has_more: bool,
    /// The cursor after this page, also of an empty one.
    pub next: String,
    /// Begins the names of the operator's webhook headers.
    pub header_prefix: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageBody {
    data: Vec<IgnoredAny>,
    has_more: bool,
    next: String,
}

impl Answered for PageBody {}

impl Listed for WebhookEvent {
    fn id(&self) -> &str {
        &self.id
    }
}

impl Events {
    pub(crate) fn new(transport: Arc<Transport>) -> Self {
        Self { transport }
    }

    /// One page, oldest event first.
    pub async fn page(&self, filters: &EventFilters) -> Result<EventPage> {
        let wait = Duration::from_secs(u64::from(filters.wait_seconds.min(WAIT_MAX_SECONDS)));
        let call = Call { query: query_of(filters), wait, ..Call::get("/integration/events".into()) };
        let answer = self.transport.send::<PageBody>(&call).await?;
        let PageBody { data, has_more, next } = answer.body;
        let bodies = elements_of(&String::from_utf8_lossy(&answer.bytes));
        let events: Vec<WebhookEvent> =
            bodies.iter().filter_map(|body| serde_json::from_str(body).ok()).collect();
        if events.len() != data.len() {
            return Err(self.transport.no_answer(NoAnswer::UnusableAnswer, &call, None));
        }
        let prefix = answer.headers.get("webhook-header-prefix").and_then(|value| value.to_str().ok());
        let header_prefix = prefix.unwrap_or(PREFIX).to_owned();
        Ok(EventPage { data: events, bodies, has_more, next, header_prefix })
    }

    pub async fn get(&self, id: &str) -> Result<WebhookEvent> {
        if !is_id(id, "evt_") {
            return Err(Error::Argument("the event's id must begin with evt_"));
        }
        Ok(self.transport.send(&Call::get(format!("/integration/events/{id}"))).await?.body)
    }

    /// All events up to now.
    pub fn list(&self, filters: EventFilters) -> Pages<WebhookEvent> {
        let cursor = filters.starting_after.clone();
        let query = query_of(&EventFilters { starting_after: None, wait_seconds: 0, ..filters });
        Pages::new(self.transport.clone(), "/integration/events".into(), query, cursor)
    }

    /// All events, for ever.
    ///
    /// # Errors
    /// When the stored cursor cannot be loaded.
    pub async fn follow<C: CursorStore>(
        &self,
        cursors: C,
        options: FollowOptions,
    ) -> Result<Follow<C>, C::Error> {
        let cursor = cursors.load().await?;
        let (page, handled, end) = (Vec::new().into_iter(), None, None);
        // The first poll does not wait, so that its answer shows at once whether the key works.
        Ok(Follow { events: self.clone(), cursors, options, cursor, is_first: true, page, handled, end })
    }
}

fn query_of(filters: &EventFilters) -> Vec<(&'static str, String)> {
    let wait_seconds = filters.wait_seconds.min(WAIT_MAX_SECONDS);
    let query = [
        ("limit", Some(filters.limit.unwrap_or(PAGE_MAX).to_string())),
        ("startingAfter", filters.starting_after.clone()),
        ("since", filters.since.clone()),
        ("types", (!filters.types.is_empty()).then(|| filters.types.join(","))),
        ("waitSeconds", (wait_seconds > 0).then(|| wait_seconds.to_string())),
    ];
    query.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Where a reader of the feed keeps its place.
pub trait CursorStore: Send + Sync {
    type Error: From<Error> + Send;

    fn load(&self) -> impl Future<Output = Result<Option<String>, Self::Error>> + Send;

    fn save(&self, cursor: &str) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// Called by a reader; keep it short.
pub type FollowHook<T> = Box<dyn FnMut(&T) + Send>;

/// Options of a reader that follows the feed.
pub struct FollowOptions {
    /// Kinds of events; all if empty.
    pub types: Vec<String>,
    /// Where to begin without a stored cursor: at the oldest event, or at `now` or a time (RFC 3339).
    pub start: Option<String>,
    /// How long the service holds a call without events.
    pub wait_seconds: u32,
    /// Called after each answered poll, before its events are returned; the page may be empty.
    pub on_page: Option<FollowHook<EventPage>>,
    /// Called when a poll failed and is repeated; log it.
    pub on_retry: Option<FollowHook<Error>>,
}

impl Default for FollowOptions {
    fn default() -> Self {
        let (types, wait_seconds) = (Vec::new(), WAIT_MAX_SECONDS);
        Self { types, start: None, wait_seconds, on_page: None, on_retry: None }
    }
}

/// A reader that follows the feed. Drop it, or the future of [`Follow::next`], to stop.
pub struct Follow<C> {
    events: Events,
    cursors: C,
    options: FollowOptions,
    cursor: Option<String>,
    is_first: bool,
    page: IntoIter<WebhookEvent>,
    /// The event that was returned last, until its place is saved.
    handled: Option<String>,
    /// The place after the page, until it is saved.
    end: Option<String>,
}

impl<C: CursorStore> Follow<C> {
    /// The next event. An event's place is saved when you ask for the next one, so an event whose handling failed comes
    /// again. Outages are waited out.
    ///
    /// # Errors
    /// One that waiting cannot end, such as an invalid key, `unusable_answer` after ten polls in a row, and those of the
    /// store.
    pub async fn next(&mut self) -> Result<WebhookEvent, C::Error> {
        loop {
            if let Some(event_id) = &self.handled {
                self.cursors.save(event_id).await?;
                self.handled = None;
            }
            if let Some(event) = self.page.next() {
                self.handled = Some(event.id.clone());
                return Ok(event);
            }
            if let Some(end) = &self.end {
                self.cursors.save(end).await?;
                self.end = None;
            }
            let page = self.poll().await?;
            self.is_first = false;
            self.end = (self.cursor.as_ref() != Some(&page.next)).then(|| page.next.clone());
            self.cursor = Some(page.next);
            self.page = page.data.into_iter();
        }
    }

    async fn poll(&mut self) -> Result<EventPage> {
        let is_now = self.options.start.as_deref() == Some("now");
        let start = self.options.start.clone().filter(|_| self.cursor.is_none());
        let (now, since) = if is_now { (start, None) } else { (None, start) };
        let filters = EventFilters {
            starting_after: self.cursor.clone().or(now),
            since,
            types: self.options.types.clone(),
            limit: None,
            wait_seconds: if self.is_first { 0 } else { self.options.wait_seconds },
        };
        let environment = self.events.transport.options.environment.clone();
        let (mut attempts, mut unusable) = (1, 0);
        loop {
            let error = match self.events.page(&filters).await {
                Ok(page) => {
                    self.options.on_page.iter_mut().for_each(|on_page| on_page(&page));
                    return Ok(page);
                }
                Err(error) if !error.is_transient() => return Err(error),
                Err(error) => error,
            };
            let is_unusable = matches!(error, Error::NoAnswer { reason: NoAnswer::UnusableAnswer, .. });
            unusable = if is_unusable { unusable + 1 } else { 0 };
            if unusable == UNUSABLE_MAX {
                return Err(error);
            }
            self.options.on_retry.iter_mut().for_each(|on_retry| on_retry(&error));
            let pause = retry::pause(attempts, &error, environment.jitter());
            environment.sleep(pause.min(PAUSE_MAX)).await;
            attempts += 1;
        }
    }
}

impl fmt::Debug for FollowOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FollowOptions")
            .field("types", &self.types)
            .field("start", &self.start)
            .field("wait_seconds", &self.wait_seconds)
            .finish_non_exhaustive()
    }
}

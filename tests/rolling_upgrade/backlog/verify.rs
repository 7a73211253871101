//! What the tables contain of the backlog, before and after.

use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use local_stack::{Service, Stack};

use super::fill::MARK;
use super::{DELIVERIES, EVENTS_EACH, Endpoint, ORDERS, ORDERS_TO_SEND};

/// The deliveries of an endpoint in one state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Group {
    deliveries: u64,
    due: u64,
    attempts: u64,
    /// A checksum of all that a sender changes.
    checksum: i64,
}

/// The rows of the backlog.
#[derive(Debug, Default)]
pub(super) struct Stored {
    /// By endpoint and state.
    deliveries: BTreeMap<(String, String), Group>,
    events: u64,
    streams: u64,
    attempts: u64,
}

impl Stored {
    pub(super) async fn read(stack: &Stack, business: &str) -> anyhow::Result<Self> {
        let sql = format!(
            "SELECT endpoint_id, state, count(*), count(due_at), sum(attempts),
                sum(hashtext(concat_ws('/', id, state, due_at, attempts, lease_token, lease_until, completed_at)))
             FROM deliveries WHERE business_id = '{business}' AND order_id LIKE '%{MARK}%'
             GROUP BY endpoint_id, state"
        );
        let rows = stack.query(Service::WebhookDispatcher, &sql).await?;
        let deliveries = rows.lines().map(group).collect::<anyhow::Result<_>>()?;
        let count = async |table: &str, column: &str| {
            let sql = format!(
                "SELECT count(*) FROM {table} WHERE business_id = '{business}' AND {column} LIKE '%{MARK}%'"
            );
            anyhow::Ok(stack.query(Service::WebhookDispatcher, &sql).await?.parse::<u64>()?)
        };
        let (events, streams) =
            (count("events", "order_id").await?, count("order_streams", "order_id").await?);
        Ok(Self { deliveries, events, streams, attempts: count("attempts", "delivery_id").await? })
    }

    fn group(&self, endpoint: &Endpoint, state: &str) -> Group {
        self.deliveries.get(&(endpoint.id.clone(), state.to_owned())).copied().unwrap_or_default()
    }

    pub(super) fn is_complete(&self, endpoints: &[Endpoint]) -> anyhow::Result<()> {
        let all: u64 = self.deliveries.values().map(|group| group.deliveries).sum();
        ensure!(all == DELIVERIES, "{all} deliveries: {self:#?}");
        for endpoint in endpoints {
            let (pending, parked) = (self.group(endpoint, "pending"), self.group(endpoint, "parked"));
            let waiting = (ORDERS - endpoint.waiting_since()) * EVENTS_EACH;
            ensure!(pending.deliveries + parked.deliveries == waiting, "{}: {self:#?}", endpoint.name);
            ensure!(pending.due * EVENTS_EACH == pending.deliveries, "{}: {self:#?}", endpoint.name);
        }
        Ok(())
    }

    /// What was to be sent has succeeded at its first attempt, and all else is as before.
    pub(super) fn lost_nothing_since(&self, before: &Self, endpoints: &[Endpoint]) -> anyhow::Result<()> {
        let to_send = ORDERS_TO_SEND * EVENTS_EACH;
        for endpoint in endpoints {
            for state in ["pending", "parked", "succeeded", "failed", "discarded"] {
                let (was, is) = (before.group(endpoint, state), self.group(endpoint, state));
                let expected = match (endpoint.phase, state) {
                    (None, _) | (_, "failed" | "discarded") => was,
                    (Some(_), "succeeded") => Group {
                        deliveries: was.deliveries + to_send,
                        attempts: was.attempts + to_send,
                        checksum: is.checksum,
                        ..was
                    },
                    (Some(_), _) => Group::default(),
                };
                ensure!(is == expected, "{} {state}: {is:?} instead of {expected:?}", endpoint.name);
            }
        }
        let resumed = endpoints.iter().filter(|endpoint| endpoint.phase.is_some()).count() as u64;
        ensure!((self.events, self.streams) == (before.events, before.streams), "{self:#?}");
        ensure!(self.attempts == before.attempts + resumed * to_send, "{self:#?}");
        Ok(())
    }
}

/// A row of the query.
fn group(row: &str) -> anyhow::Result<((String, String), Group)> {
    let mut columns = row.split('|');
    let mut next = || columns.next().context("a short row");
    let key = (next()?.to_owned(), next()?.to_owned());
    let (deliveries, due, attempts) = (next()?.parse()?, next()?.parse()?, next()?.parse()?);
    Ok((key, Group { deliveries, due, attempts, checksum: next()?.parse()? }))
}

//! Proxies on every link of a stack. They parse enough of the traffic to stop at a certain message, and can delay, drop
//! or cut it.

mod amqp;
mod http;
mod moment;
mod postgres;
mod proxy;
mod pump;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use local_stack::{Detour, Link};

pub(crate) use moment::{Instant, Mark, Marks, Moment};
pub(crate) use proxy::{Go, Proxy};

/// The proxies of a stack, by link.
#[derive(Clone, Default)]
pub(crate) struct Wires(Arc<Mutex<BTreeMap<Link, Arc<Proxy>>>>);

impl Wires {
    /// Puts a proxy on every link of a stack that is about to start.
    pub(crate) fn detour(&self) -> Detour {
        let wires = self.clone();
        Arc::new(move |link, port| {
            let proxy = Arc::new(Proxy::open(link, port)?);
            let through = proxy.port();
            wires.0.lock().unwrap_or_else(PoisonError::into_inner).insert(link, proxy);
            Ok(through)
        })
    }

    pub(crate) fn on(&self, link: Link) -> anyhow::Result<Arc<Proxy>> {
        let wires = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        wires.get(&link).cloned().with_context(|| format!("no proxy on {link:?}"))
    }

    /// Restores normal traffic. Cuts connections that dropped data, because the data never arrives.
    pub(crate) fn heal(&self) {
        for proxy in self.0.lock().unwrap_or_else(PoisonError::into_inner).values() {
            proxy.heal();
        }
    }
}

/// The longest time for which a message is held.
const HELD_MAX: Duration = Duration::from_secs(20);

//! Between each service and what it talks to: proxies that understand just enough of what passes to stop it at a moment,
//! and that can be slow, silent or cut.

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

pub(crate) use moment::{Instant, Mark, Moment};
pub(crate) use proxy::{Go, Proxy};

/// The proxies of a stack, by link.
#[derive(Clone, Default)]
pub(crate) struct Wires(Arc<Mutex<BTreeMap<Link, Arc<Proxy>>>>);

impl Wires {
    /// Puts a proxy on every link that a stack is about to use.
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

    /// Everything passes again, at once. Connections that were made to swallow are cut, since what they lost would never
    /// come.
    pub(crate) fn heal(&self) {
        for proxy in self.0.lock().unwrap_or_else(PoisonError::into_inner).values() {
            proxy.heal();
        }
    }
}

/// Nobody holds a message back for longer, whatever becomes of whoever should let it go.
const HELD_MAX: Duration = Duration::from_secs(20);

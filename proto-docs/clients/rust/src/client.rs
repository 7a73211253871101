//! The client of the delivery API.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::transport::Transport;
use crate::{ClientOptions, Environment, Events, Mode, Orders, Result};

/// The client of the delivery API. Clones share their connections.
#[derive(Clone)]
pub struct Waybill {
    pub orders: Orders,
    pub events: Events,
    transport: Arc<Transport>,
}

impl Waybill {
    /// `base_url` ends with `/v1`. The key, `sk_test_…` or `sk_live_…`, decides the mode.
    ///
    /// # Errors
    /// When an argument is wrong.
    pub fn new(api_key: &str, base_url: &str, options: ClientOptions) -> Result<Self> {
        Ok(Self::of(Transport::new(api_key, base_url, options)?))
    }

    /// With `WAYBILL_API_KEY` and `WAYBILL_BASE_URL` of the environment.
    ///
    /// # Errors
    /// When a variable is missing or wrong.
    #[expect(clippy::disallowed_methods, reason = "integrators have no other place for their settings")]
    pub fn from_env(options: ClientOptions) -> Result<Self> {
        let read = |name| std::env::var(name).unwrap_or_default();
        Self::new(&read("WAYBILL_API_KEY"), &read("WAYBILL_BASE_URL"), options)
    }

    /// The same client with another key, for instance after a rotation. It shares the connections.
    ///
    /// # Errors
    /// When the text is not an API key.
    pub fn with_key(&self, api_key: &str) -> Result<Self> {
        Ok(Self::of(self.transport.with_key(api_key)?))
    }

    fn of(transport: Transport) -> Self {
        let transport = Arc::new(transport);
        Self { orders: Orders::new(transport.clone()), events: Events::new(transport.clone()), transport }
    }

    /// The mode of the key.
    pub fn mode(&self) -> Mode {
        self.transport.mode
    }

    /// The longest time for a call with all its repetitions.
    pub fn deadline(&self) -> Duration {
        self.transport.options.deadline
    }

    pub fn environment(&self) -> &dyn Environment {
        &*self.transport.options.environment
    }
}

impl fmt::Debug for Waybill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.transport, f)
    }
}

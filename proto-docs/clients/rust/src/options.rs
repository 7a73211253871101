//! The options of a client: times, hooks and its environment.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::Error;

/// What a hook sees. Keys are redacted; bodies are left out, because they contain personal data.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    /// Counts from 1.
    pub attempt: u32,
}

#[derive(Clone, Debug)]
pub struct ExchangeResult {
    pub exchange: Exchange,
    pub duration: Duration,
    pub status: Option<u16>,
    pub request_id: Option<String>,
    pub error: Option<Error>,
}

/// Called by the client; keep it short.
pub type Hook<T> = Arc<dyn Fn(&T) + Send + Sync>;

/// Options of a client. The defaults suit production.
#[derive(Clone)]
pub struct ClientOptions {
    /// The longest time for one attempt. The service may take 5 s to answer a repeated key.
    pub attempt_timeout: Duration,
    /// The longest time for a call with all its repetitions.
    pub deadline: Duration,
    /// 1 leaves repetitions to you.
    pub attempts_max: u32,
    /// Added to the user agent, such as `my-shop/2.1`.
    pub app_info: Option<String>,
    pub on_request: Option<Hook<Exchange>>,
    pub on_response: Option<Hook<ExchangeResult>>,
    /// For tests.
    pub environment: Arc<dyn Environment>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            attempt_timeout: Duration::from_secs(15),
            deadline: Duration::from_secs(60),
            attempts_max: 10,
            app_info: None,
            on_request: None,
            on_response: None,
            environment: Arc::new(SystemEnvironment),
        }
    }
}

/// The clock, the waiting and the randomness of the client.
pub trait Environment: Send + Sync {
    /// Milliseconds since 1970.
    fn now_ms(&self) -> i64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
    }

    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(tokio::time::sleep(duration))
    }

    /// From 0 to 1.
    fn jitter(&self) -> f64 {
        // Each state has other keys.
        f64::from(RandomState::new().hash_one(0) as u32) / f64::from(u32::MAX)
    }
}

/// The environment of a program in production.
#[derive(Clone, Copy, Debug)]
pub struct SystemEnvironment;

impl Environment for SystemEnvironment {}

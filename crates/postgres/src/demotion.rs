//! Notices that the server became read-only. A demoted primary keeps its connections, and would fail every write on them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use diesel::connection::InstrumentationEvent;
use diesel::sql_types::Text;
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};

use crate::StoreError;
use crate::error::is_read_only;

/// The time of the last demotion, at first that of the pool's start. Clones share it.
#[derive(Clone)]
pub(crate) struct Demotion(Arc<Mutex<Instant>>);

impl Demotion {
    pub(crate) fn none_yet() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    /// Whether the connection may lead to a server that was demoted after it was opened.
    pub(crate) fn concerns(&self, opened: Instant) -> bool {
        opened < *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notices when a statement on this connection fails because the server is read-only.
    pub(crate) fn watch(&self, connection: &mut AsyncPgConnection) {
        let demotion = self.clone();
        connection.set_instrumentation(move |event: InstrumentationEvent<'_>| {
            if let InstrumentationEvent::FinishQuery { error: Some(error), .. } = event
                && is_read_only(error)
            {
                demotion.notice();
            }
        });
    }

    /// # Errors
    /// [`StoreError::Unavailable`] when the server rejects writes, and those of the query.
    pub(crate) async fn expect_writable(&self, connection: &mut AsyncPgConnection) -> Result<(), StoreError> {
        let setting = diesel::dsl::sql::<Text>("current_setting('transaction_read_only')");
        let read_only: String = diesel::select(setting).get_result(connection).await?;
        if read_only == "off" {
            return Ok(());
        }
        self.notice();
        Err(StoreError::Unavailable("the server rejects writes".into()))
    }

    fn notice(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

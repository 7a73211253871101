//! A handler that records its messages and returns what the test wants.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use domain::EventId;
use events::Envelope;
use messaging::{Broker, Handler, Queue, Rejection, consume};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

type Answer = Box<dyn Fn(&Envelope) -> Result<(), Rejection> + Send + Sync>;

#[derive(Clone)]
pub(crate) struct Recorder(Arc<Inner>);

struct Inner {
    received: Mutex<Vec<(EventId, Option<String>)>>,
    connections: AtomicUsize,
    answer: Answer,
}

impl Recorder {
    pub(crate) fn new(answer: impl Fn(&Envelope) -> Result<(), Rejection> + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner {
            received: Mutex::default(),
            connections: AtomicUsize::new(0),
            answer: Box::new(answer),
        }))
    }

    pub(crate) fn content() -> Self {
        Self::new(|_| Ok(()))
    }

    /// The ids of all deliveries, including repeated ones.
    pub(crate) fn received(&self) -> Vec<EventId> {
        self.0.received.lock().unwrap().iter().map(|(id, _)| *id).collect()
    }

    /// The trace of each delivery.
    pub(crate) fn traces(&self) -> Vec<Option<String>> {
        self.0.received.lock().unwrap().iter().map(|(_, trace)| trace.clone()).collect()
    }

    pub(crate) fn connections(&self) -> usize {
        self.0.connections.load(Ordering::Relaxed)
    }

    pub(crate) fn consume(&self, broker: &Broker, queue: Queue, parallel: u16) -> Consuming {
        let stop = CancellationToken::new();
        let task = tokio::spawn(consume(broker.clone(), queue, parallel, self.clone(), stop.clone()));
        Consuming { stop, task }
    }
}

impl Handler for Recorder {
    async fn handle(&self, envelope: Envelope) -> Result<(), Rejection> {
        let trace = telemetry::trace_id(&tracing::Span::current());
        self.0.received.lock().unwrap().push((envelope.id, trace));
        (self.0.answer)(&envelope)
    }

    async fn connected(&self) {
        self.0.connections.fetch_add(1, Ordering::Relaxed);
    }
}

pub(crate) struct Consuming {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Consuming {
    /// Requests the stop at once. The future completes with the consumer.
    pub(crate) fn stop(self) -> impl Future<Output = ()> {
        self.stop.cancel();
        async { self.task.await.unwrap() }
    }
}

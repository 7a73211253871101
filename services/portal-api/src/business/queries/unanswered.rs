//! Services that did not answer a query. The result is incomplete then, and says so.

use internal_api::CallError;

#[derive(Debug, Default)]
pub(crate) struct Unanswered(pub(crate) Vec<&'static str>);

impl Unanswered {
    /// The answer, or `None` after noting the service.
    pub(crate) fn unwrap<T>(&mut self, service: &'static str, answer: Result<T, CallError>) -> Option<T> {
        answer
            .inspect_err(|error| {
                tracing::warn!(%error, service, "status incomplete: a service did not answer");
                if !self.0.contains(&service) {
                    self.0.push(service);
                }
            })
            .ok()
    }
}

//! Reads that need more than one table of ours, or what other services know.

pub(crate) mod health;
pub(crate) mod status;

use internal_api::CallError;

/// Who did not answer, while the others are asked on: what they know is shown all the same.
#[derive(Debug, Default)]
struct Silent(Vec<&'static str>);

impl Silent {
    fn told<T>(&mut self, service: &'static str, answer: Result<T, CallError>) -> Option<T> {
        answer
            .inspect_err(|error| {
                tracing::warn!(%error, "a part of how a business stands is not known");
                if !self.0.contains(&service) {
                    self.0.push(service);
                }
            })
            .ok()
    }
}

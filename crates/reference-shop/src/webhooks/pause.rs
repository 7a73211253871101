//! Simulates an outage: the next few webhooks get an error status.

use std::sync::{Mutex, PoisonError};

use actix_web::http::StatusCode;

/// The status and the number of webhooks that get it.
#[derive(Debug, Default)]
pub(crate) struct Pause(Mutex<(u16, u32)>);

impl Pause {
    pub(crate) fn set(&self, status: u16, times: u32) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (status, times);
    }

    /// The simulated status of this webhook, if any.
    pub(crate) fn take(&self) -> Option<StatusCode> {
        let mut pause = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (status, times) = *pause;
        if times == 0 {
            return None;
        }
        *pause = (status, times - 1);
        Some(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_automatically() {
        let pause = Pause::default();
        assert_eq!(pause.take(), None);
        pause.set(503, 2);
        assert_eq!(pause.take(), Some(StatusCode::SERVICE_UNAVAILABLE));
        assert_eq!(pause.take(), Some(StatusCode::SERVICE_UNAVAILABLE));
        assert_eq!(pause.take(), None);
    }
}

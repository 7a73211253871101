//! How often one client address may read tracking pages, which need no key.

use std::num::NonZeroU32;

use actix_web::HttpRequest;
use domain::Clock;
use settings::Networks;
use web::{AddressLimit, CallerAddress, Exceeded, Policy, Standing};

/// An open page polls every five seconds, and many clients may share one address of a mobile network. Guessing one of
/// the 2^65 codes stays hopeless.
const POLICY: Policy = Policy {
    name: "tracking",
    per_second: NonZeroU32::new(10).unwrap(),
    burst: NonZeroU32::new(100).unwrap(),
};

pub struct TrackingLimit {
    proxies: Networks,
    limit: Option<AddressLimit>,
}

impl TrackingLimit {
    pub fn new(is_limited: bool, proxies: Networks, clock: &Clock) -> Self {
        let limit = is_limited.then(|| AddressLimit::new(POLICY, clock.clone()));
        Self { proxies, limit }
    }

    /// Charges one call to the address of the client.
    ///
    /// # Errors
    /// When the bucket of the address is empty. The call is not charged then.
    pub fn charge(&self, request: &HttpRequest) -> Result<(), Exceeded> {
        let address = CallerAddress::of(request, &self.proxies);
        match self.limit.as_ref().zip(address) {
            Some((limit, address)) => limit.charge(address).map(|_: Standing| ()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;
    use chrono::DateTime;

    fn calls_until_refused(is_limited: bool, most: usize) -> Option<usize> {
        let clock = Clock::manual(DateTime::UNIX_EPOCH);
        let limit = TrackingLimit::new(is_limited, Networks::default(), &clock);
        let request = TestRequest::default().peer_addr("192.0.2.1:4711".parse().unwrap()).to_http_request();
        (0..most).position(|_| limit.charge(&request).is_err())
    }

    #[test]
    fn the_limit_can_be_lifted() {
        assert_eq!(calls_until_refused(true, 1_000), Some(100));
        assert_eq!(calls_until_refused(false, 1_000), None);
    }
}

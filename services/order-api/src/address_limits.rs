//! How often one address may ask for parcels, which wants no key.

use std::num::NonZeroU32;

use actix_web::HttpRequest;
use domain::Clock;
use settings::TrustedProxies;
use web::{AddressLimit, CallerAddress, Exceeded, Policy};

use crate::settings::Limits;

/// A page that is open asks every five seconds; behind one address of a mobile network there may be many. It is still
/// nothing to somebody who tries codes: 2^65 of them.
const POLICY: Policy = Policy {
    name: "tracking",
    per_second: NonZeroU32::new(10).unwrap(),
    burst: NonZeroU32::new(100).unwrap(),
};

pub struct TrackingLimit {
    proxies: TrustedProxies,
    /// None when the limits per address are lifted.
    limit: Option<AddressLimit>,
}

impl TrackingLimit {
    pub fn new(limits: &Limits, clock: &Clock) -> Self {
        let limit = limits.per_address.then(|| AddressLimit::new(POLICY, clock.clone()));
        Self { proxies: limits.trusted_proxies.clone(), limit }
    }

    /// Takes one call out of the bucket of whoever sent the request.
    ///
    /// # Errors
    /// When it is empty; nothing is taken then.
    pub fn charge(&self, request: &HttpRequest) -> Result<(), Exceeded> {
        let address = CallerAddress::of(request, &self.proxies);
        match self.limit.as_ref().zip(address) {
            Some((limit, address)) => limit.charge(address).map(|_standing| ()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;
    use chrono::DateTime;

    fn calls_until_refused(limits: &Limits, most: usize) -> Option<usize> {
        let limit = TrackingLimit::new(limits, &Clock::manual(DateTime::UNIX_EPOCH));
        let request = TestRequest::default().peer_addr("192.0.2.1:4711".parse().unwrap()).to_http_request();
        (0..most).position(|_| limit.charge(&request).is_err())
    }

    #[test]
    fn the_limit_holds_and_can_be_lifted() {
        assert_eq!(calls_until_refused(&Limits::default(), 1_000), Some(100));
        assert_eq!(calls_until_refused(&Limits { per_address: false, ..Limits::default() }, 1_000), None);
    }
}

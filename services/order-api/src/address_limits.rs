//! How often one address may ask for parcels, which wants no key. Memory is bounded: the addresses that asked last are
//! remembered, up to a number.

use std::net::{IpAddr, Ipv6Addr};
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::{Mutex, PoisonError};

use actix_web::HttpRequest;
use actix_web::http::header::HeaderMap;
use governor::clock::{Clock, MonotonicClock};
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use lru::LruCache;

use crate::settings::Limits;

/// A page that is open asks every five seconds; behind one address of a mobile network there may be many. It is still
/// nothing to somebody who tries codes: 2^65 of them.
const PER_SECOND: NonZeroU32 = NonZeroU32::new(10).unwrap();
const BURST: NonZeroU32 = NonZeroU32::new(100).unwrap();
/// Some 10 MB.
const ADDRESSES_MAX: NonZeroUsize = NonZeroUsize::new(65_536).unwrap();

type Bucket<C> = RateLimiter<NotKeyed, InMemoryState, C, NoOpMiddleware<<C as Clock>::Instant>>;

pub struct AddressLimits<C: Clock = MonotonicClock> {
    clock: C,
    /// None when the limit is lifted.
    buckets: Option<Mutex<LruCache<IpAddr, Bucket<C>>>>,
    trusted_proxies: usize,
}

/// The address asked too often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany {
    pub wait_s: u32,
}

impl AddressLimits {
    pub fn new(limits: Limits) -> Self {
        Self::on_clock(limits, MonotonicClock)
    }
}

impl<C: Clock + Clone> AddressLimits<C> {
    fn on_clock(limits: Limits, clock: C) -> Self {
        let buckets = limits.per_address.then(|| Mutex::new(LruCache::new(ADDRESSES_MAX)));
        Self { clock, buckets, trusted_proxies: usize::from(limits.trusted_proxies) }
    }

    /// Takes one call out of the bucket of whoever sent the request.
    ///
    /// # Errors
    /// When it is empty; nothing is taken then.
    pub fn charge(&self, request: &HttpRequest) -> Result<(), TooMany> {
        let peer = request.peer_addr().map(|peer| peer.ip());
        match client(peer, request.headers(), self.trusted_proxies) {
            Some(address) => self.charge_address(address),
            None => Ok(()),
        }
    }

    fn charge_address(&self, address: IpAddr) -> Result<(), TooMany> {
        let Some(buckets) = &self.buckets else { return Ok(()) };
        let mut buckets = buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let quota = Quota::per_second(PER_SECOND).allow_burst(BURST);
        let bucket = buckets
            .get_or_insert(network(address), || RateLimiter::direct_with_clock(quota, self.clock.clone()));
        bucket.check().map_err(|until| {
            let wait = until.wait_time_from(self.clock.now());
            TooMany { wait_s: u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).saturating_add(1) }
        })
    }
}

/// Who sent the request: the peer, or what the outermost of our own proxies saw. Each appends to `X-Forwarded-For` who
/// called it, so what stands further left is the client's own word and counts for nothing; and with fewer entries than
/// proxies, the request came around them.
fn client(peer: Option<IpAddr>, headers: &HeaderMap, trusted_proxies: usize) -> Option<IpAddr> {
    if trusted_proxies == 0 {
        return peer;
    }
    let lists: Vec<&str> =
        headers.get_all("X-Forwarded-For").map(|value| value.to_str().unwrap_or_default()).collect();
    let mut hops = lists.iter().flat_map(|list| list.split(',')).rev().map(str::trim);
    hops.nth(trusted_proxies - 1).and_then(|address| address.parse().ok()).or(peer)
}

/// What one customer holds: an IPv4 address, or an IPv6 network of 64 bits.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use actix_web::http::header::{HeaderName, HeaderValue};
    use governor::clock::FakeRelativeClock;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn limits(per_address: bool) -> (FakeRelativeClock, AddressLimits<FakeRelativeClock>) {
        let clock = FakeRelativeClock::default();
        let limits = Limits { per_address, ..Limits::default() };
        (clock.clone(), AddressLimits::on_clock(limits, clock))
    }

    #[test]
    fn an_address_may_burst_then_ask_at_the_rate() {
        let (clock, limits) = limits(true);
        let one = address("192.0.2.1");
        for _ in 0..BURST.get() {
            limits.charge_address(one).unwrap();
        }
        assert_eq!(limits.charge_address(one), Err(TooMany { wait_s: 1 }));
        assert_eq!(limits.charge_address(address("::ffff:192.0.2.1")), Err(TooMany { wait_s: 1 }));
        assert_eq!(limits.charge_address(address("192.0.2.2")), Ok(()));
        clock.advance(Duration::from_millis(100));
        assert_eq!(limits.charge_address(one), Ok(()));
        assert_eq!(limits.charge_address(one), Err(TooMany { wait_s: 1 }));
    }

    #[test]
    fn an_ipv6_network_is_one_address() {
        let (_, limits) = limits(true);
        for host in 0..BURST.get() {
            limits.charge_address(address(&format!("2001:db8:1:2::{host:x}"))).unwrap();
        }
        assert!(limits.charge_address(address("2001:db8:1:2:3:4:5:6")).is_err());
        assert!(limits.charge_address(address("2001:db8:1:3::1")).is_ok());
    }

    #[test]
    fn memory_is_bounded() {
        let (_, limits) = limits(true);
        for bits in 0..100_000_u32 {
            limits.charge_address(IpAddr::V4(bits.into())).unwrap();
        }
        assert_eq!(limits.buckets.unwrap().into_inner().unwrap().len(), ADDRESSES_MAX.get());
    }

    #[test]
    fn the_limit_can_be_lifted() {
        let (_, limits) = limits(false);
        for _ in 0..1_000 {
            limits.charge_address(address("192.0.2.1")).unwrap();
        }
    }

    #[test]
    fn only_what_our_own_proxies_saw_counts() {
        let peer = address("10.0.0.9");
        for (forwarded, proxies, expected) in [
            (&["198.51.100.7"][..], 0, "10.0.0.9"),
            (&["198.51.100.7"], 1, "198.51.100.7"),
            (&["6.6.6.6, 198.51.100.7"], 1, "198.51.100.7"),
            (&["6.6.6.6", "198.51.100.7"], 1, "198.51.100.7"),
            (&["6.6.6.6, 198.51.100.7,10.0.0.8"], 2, "198.51.100.7"),
            (&["198.51.100.7"], 2, "10.0.0.9"),
            (&["nonsense"], 1, "10.0.0.9"),
            (&["2001:db8::7"], 1, "2001:db8::7"),
            (&[], 1, "10.0.0.9"),
        ] {
            let mut headers = HeaderMap::new();
            for value in forwarded {
                headers.append(HeaderName::from_static("x-forwarded-for"), HeaderValue::from_static(value));
            }
            assert_eq!(
                client(Some(peer), &headers, proxies),
                Some(address(expected)),
                "{forwarded:?} {proxies}"
            );
        }
    }
}

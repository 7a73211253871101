//! A stored key, and whether it works.

use chrono::{DateTime, Utc};
use domain::{ApiKeyId, BusinessId, KeyRestrictions, Mode, UserId};

/// Working keys of a business per mode, including keys in their grace period.
pub(crate) const WORKING_KEYS_MAX: i64 = 20;

/// A key without its secret, which only the business has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub id: ApiKeyId,
    pub business_id: BusinessId,
    pub mode: Mode,
    pub name: String,
    pub prefix: String,
    pub last_four: String,
    pub created_at: DateTime<Utc>,
    pub last_used_at: Option<DateTime<Utc>>,
    /// When it stopped working.
    pub revoked_at: Option<DateTime<Utc>>,
    /// The end of the key, or of its grace period if that is earlier.
    pub expires_at: Option<DateTime<Utc>>,
    /// The key that this one replaces.
    pub rotated_from: Option<ApiKeyId>,
    /// `None` if the caller named none.
    pub created_by: Option<UserId>,
    pub restrictions: KeyRestrictions,
}

impl Key {
    /// The end is exclusive.
    pub(crate) fn works_at(&self, now: DateTime<Utc>) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }

    /// Whether it worked until its end. It is also revoked then, a moment later.
    pub(crate) fn expired_by(&self, now: DateTime<Utc>) -> bool {
        self.expires_at.is_some_and(|end| end <= now && self.revoked_at.is_none_or(|at| end <= at))
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use domain::{Clock, Entropy};
    use proptest::{option, prelude::*};

    use super::*;

    fn key(revoked_at: Option<DateTime<Utc>>, expires_at: Option<DateTime<Utc>>) -> Key {
        let (clock, entropy) = (Clock::manual(DateTime::UNIX_EPOCH), Entropy::seeded(1));
        Key {
            id: ApiKeyId::generate(&clock, &entropy),
            business_id: BusinessId::generate(&clock, &entropy),
            mode: Mode::Live,
            name: "shop".into(),
            prefix: "sk_live_waybill_".into(),
            last_four: "aB3d".into(),
            created_at: clock.now(),
            last_used_at: None,
            revoked_at,
            expires_at,
            rotated_from: None,
            created_by: None,
            restrictions: KeyRestrictions::default(),
        }
    }

    #[test]
    fn a_key_works_until_it_is_revoked_or_its_grace_ends() {
        let now = DateTime::UNIX_EPOCH + TimeDelta::hours(1);
        let step = TimeDelta::microseconds(1);
        assert!(key(None, None).works_at(now));
        assert!(!key(Some(now), None).works_at(now));
        assert!(key(None, Some(now + step)).works_at(now));
        assert!(!key(None, Some(now)).works_at(now));
        assert!(!key(Some(now), Some(now + step)).works_at(now));
    }

    proptest! {
        /// Every key works, is revoked, or has expired, and only one of them.
        #[test]
        fn a_key_ends_at_the_earlier_of_both_ends(
            revoked in option::of(0..100_i64), end in option::of(0..100_i64), now in 0..200_i64,
        ) {
            let at = |second: i64| DateTime::UNIX_EPOCH + TimeDelta::seconds(second);
            // A key is not revoked after its end, and not in the future.
            let revoked = revoked.filter(|second| *second <= now);
            let revoked = revoked.map(|second| second.min(end.unwrap_or(i64::MAX)));
            let (key, now) = (key(revoked.map(at), end.map(at)), at(now));
            let is_past_end = end.is_some_and(|end| at(end) <= now);
            prop_assert_eq!(key.works_at(now), revoked.is_none() && !is_past_end);
            let was_revoked_first = revoked.is_some_and(|revoked| end.is_none_or(|end| revoked < end));
            prop_assert_eq!(key.expired_by(now), is_past_end && !was_revoked_first);
        }
    }
}

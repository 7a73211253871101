//! A stored key, and whether it works.

use chrono::{DateTime, Utc};
use domain::{ApiKeyId, BusinessId, Mode};

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
    /// The end of a rotated key's grace period.
    pub expires_at: Option<DateTime<Utc>>,
    /// The key that this one replaces.
    pub rotated_from: Option<ApiKeyId>,
}

impl Key {
    /// The end of the grace period is exclusive.
    pub(crate) fn works_at(&self, now: DateTime<Utc>) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use domain::{Clock, Entropy};

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
}

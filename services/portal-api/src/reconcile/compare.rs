//! What differs between what is remembered here and what the others tell.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use domain::BusinessId;
use reconciliation::Finding;

/// What this service remembers of a business.
#[derive(Clone, Debug, Default)]
pub(super) struct Remembered {
    pub(super) keys_made: BTreeSet<String>,
    pub(super) keys_revoked: BTreeSet<String>,
    /// By a rotation, which gives the old one an end.
    pub(super) keys_replaced: BTreeSet<String>,
    pub(super) endpoints_made: BTreeSet<String>,
    pub(super) endpoints_deleted: BTreeSet<String>,
    pub(super) test_order: bool,
    pub(super) funded: bool,
    /// What was made before then may have left no line in the audit log.
    pub(super) complete_from: Option<DateTime<Utc>>,
}

/// What the others tell of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    pub(super) keys: BTreeMap<String, Key>,
    /// When each was made.
    pub(super) endpoints: BTreeMap<String, DateTime<Utc>>,
    pub(super) test_order: bool,
    pub(super) funded: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) made_at: DateTime<Utc>,
    pub(super) is_revoked: bool,
    /// It has an end, or had it.
    pub(super) ends: bool,
}

pub(super) fn differences(business: BusinessId, remembered: &Remembered, told: &Told) -> Vec<Finding> {
    let found =
        [of_keys(remembered, told), of_endpoints(remembered, told), of_facts(business, remembered, told)];
    found
        .into_iter()
        .flatten()
        .map(|(check, subject, words)| Finding { check, subject, detail: format!("of {business}: {words}") })
        .collect()
}

type Difference = (&'static str, String, &'static str);

fn of_keys(remembered: &Remembered, told: &Told) -> Vec<Difference> {
    let forgotten = remembered
        .keys_made
        .iter()
        .filter(|id| !told.keys.contains_key(*id))
        .map(|id| ("key_forgotten", id.clone(), "was made, and key-management does not know it"));
    let works_again = told
        .keys
        .iter()
        .filter(|(id, key)| !key.is_revoked && remembered.keys_revoked.contains(*id))
        .map(|(id, _)| ("key_works_again", id.clone(), "was revoked, and works"));
    let not_replaced = told
        .keys
        .iter()
        .filter(|(id, key)| !key.is_revoked && !key.ends && remembered.keys_replaced.contains(*id))
        // One that was revoked as well is told of already.
        .filter(|(id, _)| !remembered.keys_revoked.contains(*id))
        .map(|(id, _)| ("key_works_again", id.clone(), "was replaced, and works without an end"));
    let unexplained = told
        .keys
        .iter()
        .filter(|(id, key)| !key.is_revoked && !remembered.keys_made.contains(*id))
        .filter(|(_, key)| remembered.would_know(key.made_at))
        .map(|(id, _)| ("key_unexplained", id.clone(), "works, and nothing here tells who made it"));
    forgotten.chain(works_again).chain(not_replaced).chain(unexplained).collect()
}

fn of_endpoints(remembered: &Remembered, told: &Told) -> Vec<Difference> {
    let forgotten = remembered
        .endpoints_made
        .difference(&remembered.endpoints_deleted)
        .filter(|id| !told.endpoints.contains_key(*id))
        .map(|id| ("endpoint_forgotten", id.clone(), "was made, and webhook-dispatcher does not know it"));
    let back = told
        .endpoints
        .keys()
        .filter(|id| remembered.endpoints_deleted.contains(*id))
        .map(|id| ("endpoint_back", id.clone(), "was deleted, and is there"));
    let unexplained = told
        .endpoints
        .iter()
        .filter(|(id, _)| !remembered.endpoints_made.contains(*id))
        .filter(|(id, _)| !remembered.endpoints_deleted.contains(*id))
        .filter(|(_, made_at)| remembered.would_know(**made_at))
        .map(|(id, _)| ("endpoint_unexplained", id.clone(), "is there, and nothing here tells who made it"));
    forgotten.chain(back).chain(unexplained).collect()
}

/// Only what is believed here without a reason: what is true and not known yet, this service asks for by itself.
fn of_facts(business: BusinessId, remembered: &Remembered, told: &Told) -> Vec<Difference> {
    let mut found = Vec::new();
    if remembered.test_order && !told.test_order {
        found.push(("test_order_forgotten", business.to_string(), "order-api has no test order of it"));
    }
    if remembered.funded && !told.funded {
        found.push(("funding_forgotten", business.to_string(), "wallet has never had money of it"));
    }
    found
}

impl Remembered {
    fn would_know(&self, made_at: DateTime<Utc>) -> bool {
        self.complete_from.is_some_and(|from| made_at >= from)
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    const BUSINESS: &str = "biz_01JQZ0000000000000000000AA";

    fn begin() -> DateTime<Utc> {
        DateTime::UNIX_EPOCH
    }

    fn key() -> Key {
        Key { made_at: begin(), is_revoked: false, ends: false }
    }

    /// A business of which both tell the same: one key and one endpoint of each history.
    fn agreeing() -> (Remembered, Told) {
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<BTreeSet<_>>();
        let remembered = Remembered {
            keys_made: ids(&["works", "revoked", "replaced"]),
            keys_revoked: ids(&["revoked"]),
            keys_replaced: ids(&["replaced"]),
            endpoints_made: ids(&["there", "deleted"]),
            endpoints_deleted: ids(&["deleted"]),
            test_order: true,
            funded: true,
            complete_from: Some(begin()),
        };
        let told = Told {
            keys: BTreeMap::from([
                ("works".to_owned(), key()),
                ("revoked".to_owned(), Key { is_revoked: true, ..key() }),
                ("replaced".to_owned(), Key { ends: true, ..key() }),
            ]),
            endpoints: BTreeMap::from([("there".to_owned(), begin())]),
            test_order: true,
            funded: true,
        };
        (remembered, told)
    }

    fn named(remembered: &Remembered, told: &Told) -> Vec<String> {
        let found = differences(BUSINESS.parse().unwrap(), remembered, told);
        found.iter().map(|one| format!("{} {}", one.check, one.subject)).collect()
    }

    #[test]
    fn each_difference_is_named() {
        type Change = fn(&mut Remembered, &mut Told);
        let cases: &[(Change, &[&str])] = &[
            (|_, _| {}, &[]),
            (|_, told| _ = told.keys.remove("works"), &["key_forgotten works"]),
            (|_, told| _ = told.keys.insert("revoked".into(), key()), &["key_works_again revoked"]),
            (|_, told| _ = told.keys.insert("replaced".into(), key()), &["key_works_again replaced"]),
            (|r, _| _ = r.keys_made.remove("works"), &["key_unexplained works"]),
            // It does no harm any more.
            (|r, _| _ = r.keys_made.remove("revoked"), &[]),
            (|_, told| _ = told.endpoints.remove("there"), &["endpoint_forgotten there"]),
            (|_, told| _ = told.endpoints.insert("deleted".into(), begin()), &["endpoint_back deleted"]),
            (|r, _| _ = r.endpoints_made.remove("there"), &["endpoint_unexplained there"]),
            (|_, told| told.test_order = false, &["test_order_forgotten biz_01JQZ0000000000000000000AA"]),
            (|_, told| told.funded = false, &["funding_forgotten biz_01JQZ0000000000000000000AA"]),
            // This service asks for these by itself.
            (|r, _| (r.test_order, r.funded) = (false, false), &[]),
        ];
        for (change, expected) in cases {
            let (mut remembered, mut told) = agreeing();
            change(&mut remembered, &mut told);
            assert_eq!(named(&remembered, &told), *expected);
        }
    }

    #[test]
    fn what_is_older_than_the_audit_log_needs_no_line_in_it() {
        let (mut remembered, told) = agreeing();
        (remembered.keys_made, remembered.endpoints_made) = (BTreeSet::new(), BTreeSet::new());
        assert_eq!(named(&remembered, &told).len(), 3, "two keys and an endpoint are there");
        remembered.complete_from = Some(begin() + TimeDelta::seconds(1));
        assert_eq!(named(&remembered, &told), [""; 0]);
        remembered.complete_from = None;
        assert_eq!(named(&remembered, &told), [""; 0]);
    }
}

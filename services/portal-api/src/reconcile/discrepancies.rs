//! Discrepancies between this service's records and those of the owning services.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use domain::BusinessId;
use reconciliation::Finding;

/// This service's records of a business.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnRecords {
    pub(super) keys_created: BTreeSet<String>,
    pub(super) keys_revoked: BTreeSet<String>,
    /// By a rotation, which begins the grace period of the old key.
    pub(super) keys_replaced: BTreeSet<String>,
    pub(super) endpoints_created: BTreeSet<String>,
    pub(super) endpoints_deleted: BTreeSet<String>,
    pub(super) test_order: bool,
    pub(super) funded: bool,
    /// The audit log has all entries from this time on.
    pub(super) complete_from: Option<DateTime<Utc>>,
}

/// The records of the owning services.
#[derive(Clone, Debug, Default)]
pub(super) struct PeerRecords {
    pub(super) keys: BTreeMap<String, Key>,
    /// With the creation time of each.
    pub(super) endpoints: BTreeMap<String, DateTime<Utc>>,
    pub(super) test_order: bool,
    pub(super) funded: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) created_at: DateTime<Utc>,
    pub(super) is_revoked: bool,
    pub(super) in_grace_period: bool,
}

pub(super) fn discrepancies(business: BusinessId, own: &OwnRecords, peers: &PeerRecords) -> Vec<Finding> {
    let found = [in_keys(own, peers), in_endpoints(own, peers), in_facts(business, own, peers)];
    found
        .into_iter()
        .flatten()
        .map(|(check, subject, text)| Finding { check, subject, detail: format!("{business}: {text}") })
        .collect()
}

type Discrepancy = (&'static str, String, &'static str);

fn in_keys(own: &OwnRecords, peers: &PeerRecords) -> Vec<Discrepancy> {
    let forgotten =
        own.keys_created.iter().filter(|id| !peers.keys.contains_key(*id)).map(|id| {
            ("key_forgotten", id.clone(), "the key was created, but key-management has no such key")
        });
    let works_again = peers
        .keys
        .iter()
        .filter(|(id, key)| !key.is_revoked && own.keys_revoked.contains(*id))
        .map(|(id, _)| ("key_works_again", id.clone(), "the key was revoked, but it works"));
    let not_replaced = peers
        .keys
        .iter()
        .filter(|(id, key)| !key.is_revoked && !key.in_grace_period && own.keys_replaced.contains(*id))
        // A key that was also revoked is already reported above.
        .filter(|(id, _)| !own.keys_revoked.contains(*id))
        .map(|(id, _)| {
            (
                "key_works_again",
                id.clone(),
                "the key was replaced, but it works without the end of a grace period",
            )
        });
    let unexplained = peers
        .keys
        .iter()
        .filter(|(id, key)| !key.is_revoked && !own.keys_created.contains(*id))
        .filter(|(_, key)| own.covers(key.created_at))
        .map(|(id, _)| {
            ("key_unexplained", id.clone(), "the key works, but the audit log has no entry of its creation")
        });
    forgotten.chain(works_again).chain(not_replaced).chain(unexplained).collect()
}

fn in_endpoints(own: &OwnRecords, peers: &PeerRecords) -> Vec<Discrepancy> {
    let forgotten = own
        .endpoints_created
        .difference(&own.endpoints_deleted)
        .filter(|id| !peers.endpoints.contains_key(*id))
        .map(|id| {
            (
                "endpoint_forgotten",
                id.clone(),
                "the endpoint was created, but webhook-dispatcher has no such endpoint",
            )
        });
    let back = peers
        .endpoints
        .keys()
        .filter(|id| own.endpoints_deleted.contains(*id))
        .map(|id| ("endpoint_back", id.clone(), "the endpoint was deleted, but it exists"));
    let unexplained = peers
        .endpoints
        .iter()
        .filter(|(id, _)| !own.endpoints_created.contains(*id))
        .filter(|(id, _)| !own.endpoints_deleted.contains(*id))
        .filter(|(_, created_at)| own.covers(**created_at))
        .map(|(id, _)| {
            (
                "endpoint_unexplained",
                id.clone(),
                "the endpoint exists, but the audit log has no entry of its creation",
            )
        });
    forgotten.chain(back).chain(unexplained).collect()
}

/// Reports only recorded facts that the owner does not confirm. Missing facts are not reported: this service asks for them
/// automatically.
fn in_facts(business: BusinessId, own: &OwnRecords, peers: &PeerRecords) -> Vec<Discrepancy> {
    let mut found = Vec::new();
    if own.test_order && !peers.test_order {
        found.push((
            "test_order_forgotten",
            business.to_string(),
            "recorded as having a test order, but order-api has none",
        ));
    }
    if own.funded && !peers.funded {
        found.push((
            "funding_forgotten",
            business.to_string(),
            "recorded as funded, but the wallet never received money",
        ));
    }
    found
}

impl OwnRecords {
    /// Whether the audit log covers this time.
    fn covers(&self, created_at: DateTime<Utc>) -> bool {
        self.complete_from.is_some_and(|from| created_at >= from)
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
        Key { created_at: begin(), is_revoked: false, in_grace_period: false }
    }

    /// A business without discrepancies, with one key and one endpoint of each history.
    fn consistent() -> (OwnRecords, PeerRecords) {
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<BTreeSet<_>>();
        let own = OwnRecords {
            keys_created: ids(&["works", "revoked", "replaced"]),
            keys_revoked: ids(&["revoked"]),
            keys_replaced: ids(&["replaced"]),
            endpoints_created: ids(&["there", "deleted"]),
            endpoints_deleted: ids(&["deleted"]),
            test_order: true,
            funded: true,
            complete_from: Some(begin()),
        };
        let peers = PeerRecords {
            keys: BTreeMap::from([
                ("works".to_owned(), key()),
                ("revoked".to_owned(), Key { is_revoked: true, ..key() }),
                ("replaced".to_owned(), Key { in_grace_period: true, ..key() }),
            ]),
            endpoints: BTreeMap::from([("there".to_owned(), begin())]),
            test_order: true,
            funded: true,
        };
        (own, peers)
    }

    fn named(own: &OwnRecords, peers: &PeerRecords) -> Vec<String> {
        let found = discrepancies(BUSINESS.parse().unwrap(), own, peers);
        found.iter().map(|one| format!("{} {}", one.check, one.subject)).collect()
    }

    #[test]
    fn each_discrepancy_is_reported() {
        type Change = fn(&mut OwnRecords, &mut PeerRecords);
        let cases: &[(Change, &[&str])] = &[
            (|_, _| {}, &[]),
            (|_, peers| _ = peers.keys.remove("works"), &["key_forgotten works"]),
            (|_, peers| _ = peers.keys.insert("revoked".into(), key()), &["key_works_again revoked"]),
            (|_, peers| _ = peers.keys.insert("replaced".into(), key()), &["key_works_again replaced"]),
            (|r, _| _ = r.keys_created.remove("works"), &["key_unexplained works"]),
            // A revoked key is harmless.
            (|r, _| _ = r.keys_created.remove("revoked"), &[]),
            (|_, peers| _ = peers.endpoints.remove("there"), &["endpoint_forgotten there"]),
            (|_, peers| _ = peers.endpoints.insert("deleted".into(), begin()), &["endpoint_back deleted"]),
            (|r, _| _ = r.endpoints_created.remove("there"), &["endpoint_unexplained there"]),
            (|_, peers| peers.test_order = false, &["test_order_forgotten biz_01JQZ0000000000000000000AA"]),
            (|_, peers| peers.funded = false, &["funding_forgotten biz_01JQZ0000000000000000000AA"]),
            // This service asks for these automatically.
            (|r, _| (r.test_order, r.funded) = (false, false), &[]),
        ];
        for (change, expected) in cases {
            let (mut own, mut peers) = consistent();
            change(&mut own, &mut peers);
            assert_eq!(named(&own, &peers), *expected);
        }
    }

    #[test]
    fn records_older_than_the_audit_log_need_no_entry() {
        let (mut own, peers) = consistent();
        (own.keys_created, own.endpoints_created) = (BTreeSet::new(), BTreeSet::new());
        assert_eq!(named(&own, &peers).len(), 3, "two keys and an endpoint exist");
        own.complete_from = Some(begin() + TimeDelta::seconds(1));
        assert_eq!(named(&own, &peers), [""; 0]);
        own.complete_from = None;
        assert_eq!(named(&own, &peers), [""; 0]);
    }
}

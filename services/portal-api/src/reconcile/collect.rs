//! Reads the records of this service and of its peers, page by page.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use domain::BusinessId;
use internal_api::{CallError, Page, PageQuery};
use postgres::{Database, StoreError};
use reconciliation::Finding;

use crate::audit::domain::{Action, AuditEntry, AuditFilter};
use crate::peers::Peers;
use crate::reconcile::discrepancies::{Key, OwnRecords, PeerRecords, discrepancies};
use crate::store::{audit_log, businesses};

/// Rows per page.
const PAGE: usize = 100;
/// More than any business has.
const PAGES_MAX: usize = 1_000;

/// Why the check is incomplete.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CollectError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Call(#[from] CallError),
    #[error("{1} has too many {0} to check")]
    TooMany(&'static str, BusinessId),
    #[error("the business {0} no longer exists")]
    UnknownBusiness(BusinessId),
}

/// A service that has records of businesses.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owner {
    Keys,
    Webhooks,
    Wallet,
}

impl Owner {
    pub(super) const ALL: [Self; 3] = [Self::Keys, Self::Webhooks, Self::Wallet];

    fn detail(self) -> &'static str {
        match self {
            Self::Keys => "key-management has working keys of it",
            Self::Webhooks => "webhook-dispatcher has endpoints of it",
            Self::Wallet => "wallet has a wallet of it",
        }
    }
}

pub(super) struct Collector {
    database: Database,
    peers: Peers,
    complete_from: Option<DateTime<Utc>>,
}

/// The result of checking one business.
pub(super) struct Checked {
    pub(super) keys: usize,
    pub(super) endpoints: usize,
    pub(super) findings: Vec<Finding>,
}

impl Collector {
    pub(super) async fn new(database: Database, peers: Peers) -> Result<Self, CollectError> {
        let complete_from: Result<_, StoreError> =
            database.read(async |conn| audit_log::begins_at(conn).await).await;
        Ok(Self { database, peers, complete_from: complete_from? })
    }

    /// The next page of this service's businesses.
    pub(super) async fn businesses(&self, after: &str) -> Result<Vec<BusinessId>, StoreError> {
        let limit = i64::try_from(PAGE).unwrap_or(i64::MAX);
        self.database.read(async |conn| businesses::ids_after(conn, after, limit).await).await
    }

    /// The next page of businesses that another service has records of, and findings for the unknown ones.
    pub(super) async fn businesses_of(
        &self,
        owner: Owner,
        after: Option<BusinessId>,
    ) -> Result<(Page<BusinessId>, Vec<Finding>), CollectError> {
        let query = PageQuery { limit: PAGE, starting_after: after.map(|id| id.to_string()) };
        let page = match owner {
            Owner::Keys => self.peers.keys.businesses(&query).await?,
            Owner::Webhooks => self.peers.webhooks.businesses(&query).await?,
            Owner::Wallet => self.peers.wallet.businesses(&query).await?,
        };
        let known: Result<Vec<BusinessId>, StoreError> =
            self.database.read(async |conn| businesses::existing(conn, &page.data).await).await;
        let known: BTreeSet<String> = known?.iter().map(ToString::to_string).collect();
        let unknown = page.data.iter().map(ToString::to_string).filter(|id| !known.contains(id));
        let unknown = unknown.map(|subject| Finding {
            check: "business_unknown",
            subject,
            detail: owner.detail().to_owned(),
        });
        let unknown = unknown.collect();
        Ok((page, unknown))
    }

    pub(super) async fn check(&self, business: BusinessId) -> Result<Checked, CollectError> {
        // Peers first: this service writes its audit entries later, so that a second check finds them.
        let peers = self.peer_records(business).await?;
        let own = self.own_records(business).await?;
        let findings = discrepancies(business, &own, &peers);
        Ok(Checked { keys: peers.keys.len(), endpoints: peers.endpoints.len(), findings })
    }

    async fn peer_records(&self, business: BusinessId) -> Result<PeerRecords, CollectError> {
        let (wallet, test_order) =
            tokio::try_join!(self.peers.wallet.wallet(business), self.peers.orders.any_test_order(business))?;
        let keys = all_pages(
            ("keys", business),
            async |page| Ok(self.peers.keys.list(business, &page).await?),
            |key| key.id.to_string(),
        );
        let endpoints = all_pages(
            ("endpoints", business),
            async |page| Ok(self.peers.webhooks.list(business, &page).await?),
            |endpoint| endpoint.id.to_string(),
        );
        let (keys, endpoints) = tokio::try_join!(keys, endpoints)?;
        let keys = keys.into_iter().map(|key| {
            let is_revoked = key.revoked_at.is_some();
            let in_grace_period = key.in_grace_period.unwrap_or_default();
            (key.id.to_string(), Key { created_at: key.created_at, is_revoked, in_grace_period })
        });
        let endpoints = endpoints.into_iter().map(|endpoint| (endpoint.id.to_string(), endpoint.created_at));
        Ok(PeerRecords {
            keys: keys.collect(),
            endpoints: endpoints.collect(),
            test_order: test_order.exists,
            funded: wallet.funded_at.is_some(),
        })
    }

    async fn own_records(&self, business: BusinessId) -> Result<OwnRecords, CollectError> {
        let standing = self.database.read(async |conn| businesses::standing(conn, business).await).await?;
        let standing = standing.ok_or(CollectError::UnknownBusiness(business))?;
        let rotated = self.entries(business, Action::ApiKeyRotated).await?;
        let mut keys_created = targets(&self.entries(business, Action::ApiKeyCreated).await?);
        keys_created.extend(targets(&rotated));
        let replaced = rotated.iter().filter_map(|entry| entry.details["replaces"].as_str());
        Ok(OwnRecords {
            keys_created,
            keys_revoked: targets(&self.entries(business, Action::ApiKeyRevoked).await?),
            keys_replaced: replaced.map(str::to_owned).collect(),
            endpoints_created: targets(&self.entries(business, Action::EndpointCreated).await?),
            endpoints_deleted: targets(&self.entries(business, Action::EndpointDeleted).await?),
            test_order: standing.successful_test_order,
            funded: standing.wallet_funded,
            complete_from: self.complete_from,
        })
    }

    async fn entries(&self, business: BusinessId, action: Action) -> Result<Vec<AuditEntry>, CollectError> {
        let filter = AuditFilter { action: Some(action), ..AuditFilter::default() };
        let (mut entries, mut after) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let read =
                self.database.read(async |conn| audit_log::list(conn, business, &filter, PAGE, after).await);
            // `None`: the last entry was pruned in the meantime, and so were all older ones.
            let page = Page::cut(read.await?.unwrap_or_default(), PAGE);
            entries.extend(page.data);
            match entries.last() {
                Some(last) if page.has_more => after = Some(last.id),
                Some(_) | None => return Ok(entries),
            }
        }
        Err(CollectError::TooMany("audit log entries", business))
    }
}

fn targets(entries: &[AuditEntry]) -> BTreeSet<String> {
    entries.iter().filter_map(|entry| Some(entry.target.as_ref()?.id.clone())).collect()
}

/// Reads all pages of a list.
async fn all_pages<T>(
    (what, business): (&'static str, BusinessId),
    page: impl AsyncFn(PageQuery) -> Result<Page<T>, CollectError>,
    id: impl Fn(&T) -> String,
) -> Result<Vec<T>, CollectError> {
    let (mut all, mut starting_after) = (Vec::new(), None);
    for _ in 0..PAGES_MAX {
        let Page { data, has_more } = page(PageQuery { limit: PAGE, starting_after }).await?;
        all.extend(data);
        match all.last() {
            Some(last) if has_more => starting_after = Some(id(last)),
            Some(_) | None => return Ok(all),
        }
    }
    Err(CollectError::TooMany(what, business))
}

//! Asking: this service's own database, and the others page by page.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use domain::BusinessId;
use internal_api::{CallError, Page, PageQuery};
use postgres::{Database, StoreError};
use reconciliation::Finding;

use super::compare::{Key, Remembered, Told, differences};
use crate::domain::Action;
use crate::peers::Peers;
use crate::store::audit_log::{self, Filter, Line};
use crate::store::businesses;

/// Of each list that is asked for.
const PAGE: usize = 100;
/// No business has as many keys, endpoints or lines about them.
const PAGES_MAX: usize = 1_000;

/// Why not everything could be looked at.
#[derive(Debug, thiserror::Error)]
pub(super) enum GatherError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Call(#[from] CallError),
    #[error("{0} of {1} are more than are looked at")]
    TooMany(&'static str, BusinessId),
    #[error("{0} is no known business any more")]
    Gone(BusinessId),
}

/// Which services have something of businesses.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owner {
    Keys,
    Webhooks,
    Wallet,
}

impl Owner {
    pub(super) const ALL: [Self; 3] = [Self::Keys, Self::Webhooks, Self::Wallet];

    fn words(self) -> &'static str {
        match self {
            Self::Keys => "key-management has keys of it that work",
            Self::Webhooks => "webhook-dispatcher has endpoints of it",
            Self::Wallet => "wallet has a wallet of it",
        }
    }
}

/// Who is asked.
pub(super) struct Gatherer {
    pub(super) database: Database,
    pub(super) peers: Peers,
    pub(super) complete_from: Option<DateTime<Utc>>,
}

/// What a business is looked through for.
pub(super) struct Looked {
    pub(super) keys: usize,
    pub(super) endpoints: usize,
    pub(super) differences: Vec<Finding>,
}

impl Gatherer {
    pub(super) async fn new(database: Database, peers: Peers) -> Result<Self, GatherError> {
        let complete_from: Result<_, StoreError> =
            database.read(async |conn| audit_log::begins_at(conn).await).await;
        Ok(Self { database, peers, complete_from: complete_from? })
    }

    /// The next of this service's businesses.
    pub(super) async fn businesses(&self, behind: &str) -> Result<Vec<BusinessId>, StoreError> {
        let limit = i64::try_from(PAGE).unwrap_or(i64::MAX);
        self.database.read(async |conn| businesses::ids_behind(conn, behind, limit).await).await
    }

    /// The next businesses that another service has something of, and which of them are not known here.
    pub(super) async fn businesses_of(
        &self,
        owner: Owner,
        behind: Option<BusinessId>,
    ) -> Result<(Page<BusinessId>, Vec<Finding>), GatherError> {
        let query = PageQuery { limit: PAGE, starting_after: behind.map(|id| id.to_string()) };
        let page = match owner {
            Owner::Keys => self.peers.keys.businesses(&query).await?,
            Owner::Webhooks => self.peers.webhooks.businesses(&query).await?,
            Owner::Wallet => self.peers.wallet.businesses(&query).await?,
        };
        let known: Result<Vec<BusinessId>, StoreError> =
            self.database.read(async |conn| businesses::known_of(conn, &page.data).await).await;
        let known: BTreeSet<String> = known?.iter().map(ToString::to_string).collect();
        let unknown = page.data.iter().map(ToString::to_string).filter(|id| !known.contains(id));
        let unknown = unknown.map(|subject| Finding {
            check: "business_unknown",
            subject,
            detail: owner.words().to_owned(),
        });
        let unknown = unknown.collect();
        Ok((page, unknown))
    }

    pub(super) async fn look(&self, business: BusinessId) -> Result<Looked, GatherError> {
        // The others first: what they have by now has its line here a moment later, so that a second look explains it.
        let told = self.told(business).await?;
        let remembered = self.remembered(business).await?;
        let differences = differences(business, &remembered, &told);
        Ok(Looked { keys: told.keys.len(), endpoints: told.endpoints.len(), differences })
    }

    async fn told(&self, business: BusinessId) -> Result<Told, GatherError> {
        let (wallet, test_order) =
            tokio::try_join!(self.peers.wallet.wallet(business), self.peers.orders.any_test_order(business))?;
        let keys = whole(
            ("keys", business),
            async |page| Ok(self.peers.keys.list(business, &page).await?),
            |key| key.id.to_string(),
        );
        let endpoints = whole(
            ("endpoints", business),
            async |page| Ok(self.peers.webhooks.list(business, &page).await?),
            |endpoint| endpoint.id.to_string(),
        );
        let (keys, endpoints) = tokio::try_join!(keys, endpoints)?;
        let keys = keys.into_iter().map(|key| {
            let (is_revoked, ends) = (key.revoked_at.is_some(), key.expires_at.is_some());
            (key.id.to_string(), Key { made_at: key.created_at, is_revoked, ends })
        });
        let endpoints = endpoints.into_iter().map(|endpoint| (endpoint.id.to_string(), endpoint.created_at));
        Ok(Told {
            keys: keys.collect(),
            endpoints: endpoints.collect(),
            test_order: test_order.exists,
            funded: wallet.funded_at.is_some(),
        })
    }

    async fn remembered(&self, business: BusinessId) -> Result<Remembered, GatherError> {
        let standing = self.database.read(async |conn| businesses::standing(conn, business).await).await?;
        let standing = standing.ok_or(GatherError::Gone(business))?;
        let rotated = self.lines(business, Action::ApiKeyRotated).await?;
        let mut keys_made = targets(&self.lines(business, Action::ApiKeyCreated).await?);
        keys_made.extend(targets(&rotated));
        let replaced = rotated.iter().filter_map(|line| line.details["replaces"].as_str());
        Ok(Remembered {
            keys_made,
            keys_revoked: targets(&self.lines(business, Action::ApiKeyRevoked).await?),
            keys_replaced: replaced.map(str::to_owned).collect(),
            endpoints_made: targets(&self.lines(business, Action::EndpointCreated).await?),
            endpoints_deleted: targets(&self.lines(business, Action::EndpointDeleted).await?),
            test_order: standing.successful_test_order,
            funded: standing.wallet_funded,
            complete_from: self.complete_from,
        })
    }

    async fn lines(&self, business: BusinessId, action: Action) -> Result<Vec<Line>, GatherError> {
        let filter = Filter { action: Some(action), ..Filter::default() };
        let (mut lines, mut after) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let read =
                self.database.read(async |conn| audit_log::list(conn, business, filter, PAGE, after).await);
            // A line may have been pruned meanwhile; then there are none behind it.
            let page = Page::cut(read.await?.unwrap_or_default(), PAGE);
            lines.extend(page.data);
            match lines.last() {
                Some(last) if page.has_more => after = Some(last.id),
                Some(_) | None => return Ok(lines),
            }
        }
        Err(GatherError::TooMany("lines of the audit log", business))
    }
}

fn targets(lines: &[Line]) -> BTreeSet<String> {
    lines.iter().filter_map(|line| Some(line.target.as_ref()?.id.clone())).collect()
}

/// All of a list, page by page.
async fn whole<T>(
    (what, business): (&'static str, BusinessId),
    page: impl AsyncFn(PageQuery) -> Result<Page<T>, GatherError>,
    id: impl Fn(&T) -> String,
) -> Result<Vec<T>, GatherError> {
    let (mut all, mut starting_after) = (Vec::new(), None);
    for _ in 0..PAGES_MAX {
        let Page { data, has_more } = page(PageQuery { limit: PAGE, starting_after }).await?;
        all.extend(data);
        match all.last() {
            Some(last) if has_more => starting_after = Some(id(last)),
            Some(_) | None => return Ok(all),
        }
    }
    Err(GatherError::TooMany(what, business))
}

//! Businesses: single ones, their standing, and the operator's list.

use chrono::{DateTime, Utc};
use diesel::dsl::{not, sql};
use diesel::sql_types::{Bool, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::BusinessId;
use identity::stored;
use postgres::{StoreError, statement};

use crate::business::domain::{
    Business, BusinessFilter, DoneSince, ListedBusiness, ListedStatus, Standing, Subscription,
};
use crate::store::pickup_profiles::PickupRow;
use crate::store::schema::{accounts, businesses, go_live_facts, memberships, pickup_profiles};
use diesel::prelude::*;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = businesses)]
struct BusinessRow {
    id: String,
    name: String,
    status: String,
    live_access: bool,
    subscription_state: String,
    subscription_plan: Option<String>,
    requested_plan: Option<String>,
    created_at: DateTime<Utc>,
}

/// When each item of the go-live checklist was completed, in the order of [`facts_columns`].
type FactsRow = (
    Option<DateTime<Utc>>,
    Option<DateTime<Utc>>,
    Option<DateTime<Utc>>,
    Option<DateTime<Utc>>,
    Option<DateTime<Utc>>,
    Option<DateTime<Utc>>,
);
/// With [`IS_CLOSING`].
type StandingRow = (BusinessRow, FactsRow, Option<PickupRow>, bool);
/// A [`StandingRow`], the owner's address, [`IS_CLOSED`], and [`IS_REFUSED`] with [`ASKED_AGAIN`].
type ListedRow = (BusinessRow, FactsRow, Option<PickupRow>, bool, String, bool, (bool, bool));

/// The columns of a [`FactsRow`].
macro_rules! facts_columns {
    () => {
        (
            go_live_facts::successful_test_order_at,
            go_live_facts::wallet_funded_at,
            businesses::active_since,
            businesses::subscription_active_since,
            businesses::live_access_since,
            pickup_profiles::updated_at.nullable(),
        )
    };
}

pub(crate) async fn insert(conn: &mut AsyncPgConnection, business: &Business) -> Result<(), StoreError> {
    let row = BusinessRow::of(business);
    diesel::insert_into(businesses::table)
        .values((row, businesses::updated_at.eq(business.created_at)))
        .execute(conn)
        .await?;
    Ok(())
}

pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    id: BusinessId,
) -> Result<Option<Business>, StoreError> {
    let row = businesses::table
        .find(id.to_string())
        .select(BusinessRow::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(Business::try_from).transpose()
}

/// The businesses after this id, in the order of their ids. Covers all businesses.
pub(crate) async fn ids_after(
    conn: &mut AsyncPgConnection,
    after: &str,
    limit: i64,
) -> Result<Vec<BusinessId>, StoreError> {
    let ids: Vec<String> = businesses::table
        .filter(businesses::id.gt(after))
        .select(businesses::id)
        .order(businesses::id)
        .limit(limit)
        .load(conn)
        .await?;
    ids.iter().map(|id| stored("businesses.id", id)).collect()
}

/// The ids among these that exist. Covers all businesses.
pub(crate) async fn existing(
    conn: &mut AsyncPgConnection,
    ids: &[BusinessId],
) -> Result<Vec<BusinessId>, StoreError> {
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    let known: Vec<String> =
        businesses::table.filter(businesses::id.eq_any(ids)).select(businesses::id).load(conn).await?;
    known.iter().map(|id| stored("businesses.id", id)).collect()
}

/// As [`find`], and locks the business until the transaction ends.
pub(crate) async fn find_for_update(
    conn: &mut AsyncPgConnection,
    id: BusinessId,
) -> Result<Option<Business>, StoreError> {
    let row = businesses::table
        .find(id.to_string())
        .select(BusinessRow::as_select())
        // Allows concurrent writes of rows that reference the business.
        .for_no_key_update()
        .first(conn)
        .await
        .optional()?;
    row.map(Business::try_from).transpose()
}

/// How often the business has been suspended. Exact while its row is locked.
pub(crate) async fn suspensions(conn: &mut AsyncPgConnection, id: BusinessId) -> Result<i32, StoreError> {
    Ok(businesses::table.find(id.to_string()).select(businesses::suspensions).first(conn).await?)
}

/// Keeps the time since when something is on, and clears it when it is switched off.
const UPDATE: &str = "
    UPDATE businesses SET
        status = $2, live_access = $3, subscription_state = $4, subscription_plan = $5, requested_plan = $6,
        updated_at = $7,
        active_since = CASE WHEN $2 = 'active' THEN coalesce(active_since, $7) END,
        live_access_since = CASE WHEN $3 THEN coalesce(live_access_since, $7) END,
        subscription_active_since = CASE WHEN $4 = 'active' THEN coalesce(subscription_active_since, $7) END
    WHERE id = $1";

/// Writes the status, live access and subscription.
pub(crate) async fn update(
    conn: &mut AsyncPgConnection,
    business: &Business,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let row = BusinessRow::of(business);
    let updated = statement(UPDATE)
        .bind::<Text, _>(row.id)
        .bind::<Text, _>(row.status)
        .bind::<Bool, _>(row.live_access)
        .bind::<Text, _>(row.subscription_state)
        .bind::<Nullable<Text>, _>(row.subscription_plan)
        .bind::<Nullable<Text>, _>(row.requested_plan)
        .bind::<Timestamptz, _>(now)
        .execute(conn)
        .await?;
    if updated == 1 { Ok(()) } else { Err(diesel::result::Error::NotFound.into()) }
}

/// Writes the name. The caller has locked the business.
pub(crate) async fn rename(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    name: &str,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let change = (businesses::name.eq(name), businesses::updated_at.eq(now));
    let renamed =
        diesel::update(businesses::table.find(business.to_string())).set(change).execute(conn).await?;
    if renamed == 1 { Ok(()) } else { Err(diesel::result::Error::NotFound.into()) }
}

pub(crate) async fn standing(
    conn: &mut AsyncPgConnection,
    id: BusinessId,
) -> Result<Option<Standing>, StoreError> {
    let row: Option<StandingRow> = businesses::table
        .inner_join(go_live_facts::table)
        .left_join(pickup_profiles::table)
        .filter(businesses::id.eq(id.to_string()))
        .select((
            BusinessRow::as_select(),
            facts_columns!(),
            Option::<PickupRow>::as_select(),
            sql::<Bool>(IS_CLOSING),
        ))
        .first(conn)
        .await
        .optional()?;
    row.map(Standing::try_from).transpose()
}

/// The names of those businesses that exist.
pub(crate) async fn names(
    conn: &mut AsyncPgConnection,
    ids: &[BusinessId],
) -> Result<Vec<(BusinessId, String)>, StoreError> {
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    let rows: Vec<(String, String)> = businesses::table
        .filter(businesses::id.eq_any(ids))
        .select((businesses::id, businesses::name))
        .load(conn)
        .await?;
    rows.into_iter().map(|(id, name)| Ok((stored("businesses.id", &id)?, name))).collect()
}

/// Escapes the wildcards of `LIKE`.
fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_")
}

/// Not approved and not refused, or refused and asking again; not being closed. Release 1.0.0 leaves the refusal of a business
/// that it approves, until it gets live access. `active_since` does not show such an approval: the end of a suspension sets it
/// too.
const AWAITS_REVIEW: &str = "((businesses.status = 'inactive' AND NOT EXISTS (\
     SELECT FROM refusals WHERE refusals.business_id = businesses.id AND refusals.asked_again_at IS NULL) \
     OR businesses.status = 'active' AND NOT businesses.live_access AND EXISTS (\
     SELECT FROM refusals WHERE refusals.business_id = businesses.id AND refusals.asked_again_at IS NOT NULL)) \
     AND NOT EXISTS (SELECT FROM closings WHERE closings.business_id = businesses.id))";

/// Whether the closing of the business has begun, or is completed.
pub(super) const IS_CLOSING: &str =
    "EXISTS (SELECT FROM closings WHERE closings.business_id = businesses.id)";

/// Whether the closing of the business is completed.
pub(super) const IS_CLOSED: &str = "EXISTS (\
     SELECT FROM closings WHERE closings.business_id = businesses.id AND closings.completed_at IS NOT NULL)";

/// Whether the operator refused the business its approval or live access, and it has not asked again. Release 1.0.0 leaves the
/// refusal of a business that it approves or lets go live. A suspension that ends hides one too: better twice in a list than never.
const IS_REFUSED: &str = "(NOT (businesses.status = 'active' AND businesses.live_access) AND EXISTS (\
     SELECT FROM refusals WHERE refusals.business_id = businesses.id AND refusals.asked_again_at IS NULL \
     AND refusals.refused_at >= coalesce(businesses.active_since, '-infinity')))";

/// Whether the business asked again after a refusal, and still waits.
const ASKED_AGAIN: &str = "(NOT (businesses.status = 'active' AND businesses.live_access) AND EXISTS (\
     SELECT FROM refusals WHERE refusals.business_id = businesses.id AND refusals.asked_again_at IS NOT NULL))";

/// The operator's list, newest first. Reads one more than `limit` to show that more follow. `None` if `after` is unknown.
pub(crate) async fn list(
    conn: &mut AsyncPgConnection,
    limit: usize,
    after: Option<BusinessId>,
    filter: &BusinessFilter,
) -> Result<Option<Vec<ListedBusiness>>, StoreError> {
    let mut query = businesses::table
        .inner_join(go_live_facts::table)
        .inner_join(memberships::table.inner_join(accounts::table))
        .left_join(pickup_profiles::table)
        // The first owner, if there are several.
        .filter(sql::<Bool>(
            "memberships.id = (SELECT min(owner.id) FROM memberships AS owner \
             WHERE owner.business_id = businesses.id AND owner.role = 'owner')",
        ))
        .select((
            BusinessRow::as_select(),
            facts_columns!(),
            Option::<PickupRow>::as_select(),
            sql::<Bool>(IS_CLOSING),
            accounts::email,
            sql::<Bool>(IS_CLOSED),
            (sql::<Bool>(IS_REFUSED), sql::<Bool>(ASKED_AGAIN)),
        ))
        // Ids start with their creation time.
        .order(businesses::id.desc())
        .limit(i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1))
        .into_boxed();
    if let Some(only) = filter.only {
        query = query.filter(businesses::id.eq(only.to_string()));
    }
    match filter.status {
        None => {}
        Some(ListedStatus::Closed) => query = query.filter(sql::<Bool>(IS_CLOSED)),
        Some(status) => {
            query = query.filter(businesses::status.eq(status.to_string()).and(not(sql::<Bool>(IS_CLOSED))));
        }
    }
    if filter.awaits_review {
        query = query.filter(sql::<Bool>(AWAITS_REVIEW));
    }
    if filter.undecided {
        query = query.filter(not(sql::<Bool>(IS_REFUSED)).and(not(sql::<Bool>(IS_CLOSING))));
    }
    if let Some(state) = filter.subscription {
        query = query.filter(businesses::subscription_state.eq(state.to_string()));
    }
    if let Some(text) = &filter.search {
        let (members, people) = diesel::alias!(memberships as members, accounts as people);
        let named = format!("%{}%", escaped(text));
        let of_member = members
            .inner_join(people.on(people.field(accounts::id).eq(members.field(memberships::account_id))))
            .filter(people.field(accounts::email).ilike(named.clone()))
            .select(members.field(memberships::business_id));
        query = query.filter(
            businesses::id
                .eq(text.clone())
                .or(businesses::name.ilike(named))
                .or(businesses::id.eq_any(of_member)),
        );
    }
    if let Some(after) = after {
        if find(conn, after).await?.is_none() {
            return Ok(None);
        }
        query = query.filter(businesses::id.lt(after.to_string()));
    }
    let rows: Vec<ListedRow> = query.load(conn).await?;
    rows.into_iter().map(read_listed).collect::<Result<_, StoreError>>().map(Some)
}

fn read_listed(row: ListedRow) -> Result<ListedBusiness, StoreError> {
    let (business, facts, pickup, closing, owner_email, closed, (refused, asked_again)) = row;
    let standing = Standing::try_from((business, facts, pickup, closing))?;
    Ok(ListedBusiness { standing, closed, refused, asked_again, owner_email })
}

impl BusinessRow {
    fn of(business: &Business) -> Self {
        Self {
            id: business.id.to_string(),
            name: business.name.clone(),
            status: business.status.to_string(),
            live_access: business.live_access,
            subscription_state: business.subscription.state.to_string(),
            subscription_plan: business.subscription.plan.clone(),
            requested_plan: business.subscription.requested_plan.clone(),
            created_at: business.created_at,
        }
    }
}

impl TryFrom<BusinessRow> for Business {
    type Error = StoreError;

    fn try_from(row: BusinessRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: stored("businesses.id", &row.id)?,
            name: row.name,
            status: stored("businesses.status", &row.status)?,
            live_access: row.live_access,
            subscription: Subscription {
                state: stored("businesses.subscription_state", &row.subscription_state)?,
                plan: row.subscription_plan,
                requested_plan: row.requested_plan,
            },
            created_at: row.created_at,
        })
    }
}

impl TryFrom<StandingRow> for Standing {
    type Error = StoreError;

    fn try_from((business, facts, pickup, closing): StandingRow) -> Result<Self, StoreError> {
        let (successful_test_order, wallet_funded, active, subscription, live_access, profile) = facts;
        Ok(Self {
            business: business.try_into()?,
            successful_test_order: successful_test_order.is_some(),
            wallet_funded: wallet_funded.is_some(),
            pickup: pickup.map(Into::into),
            since: DoneSince {
                successful_test_order,
                active,
                subscription,
                live_access,
                wallet_funded,
                profile,
            },
            closing,
        })
    }
}

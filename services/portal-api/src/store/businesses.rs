//! Businesses: reading them alone, with all that decides about them, or as the operator's list.

use chrono::{DateTime, Utc};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::BusinessId;
use postgres::StoreError;

use super::pickup_profiles::PickupRow;
use super::schema::{businesses, go_live_facts, pickup_profiles, users};
use super::stored;
use crate::domain::{Business, Standing, Subscription};

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

/// When a test order was received, and when the wallet was funded.
type FactsRow = (Option<DateTime<Utc>>, Option<DateTime<Utc>>);
/// A business with its facts and its pickup profile.
type StandingRow = (BusinessRow, FactsRow, Option<PickupRow>);

/// A business in the operator's list.
pub(crate) struct Listed {
    pub(crate) standing: Standing,
    pub(crate) owner_email: String,
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

/// As [`find`], and nobody else changes it until the transaction ends.
pub(crate) async fn find_for_update(
    conn: &mut AsyncPgConnection,
    id: BusinessId,
) -> Result<Option<Business>, StoreError> {
    let row = businesses::table
        .find(id.to_string())
        .select(BusinessRow::as_select())
        .for_update()
        .first(conn)
        .await
        .optional()?;
    row.map(Business::try_from).transpose()
}

/// Writes what may change of a business: its status, live access and subscription.
pub(crate) async fn update(
    conn: &mut AsyncPgConnection,
    business: &Business,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let row = BusinessRow::of(business);
    let updated = diesel::update(businesses::table.find(row.id))
        .set((
            businesses::status.eq(row.status),
            businesses::live_access.eq(row.live_access),
            businesses::subscription_state.eq(row.subscription_state),
            businesses::subscription_plan.eq(row.subscription_plan),
            businesses::requested_plan.eq(row.requested_plan),
            businesses::updated_at.eq(now),
        ))
        .execute(conn)
        .await?;
    if updated == 1 { Ok(()) } else { Err(diesel::result::Error::NotFound.into()) }
}

/// All that decides whether a business may order for real.
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
            (go_live_facts::successful_test_order_at, go_live_facts::wallet_funded_at),
            Option::<PickupRow>::as_select(),
        ))
        .first(conn)
        .await
        .optional()?;
    row.map(Standing::try_from).transpose()
}

/// The operator's list, newest first; one more than `limit` tells that there are more. `None` when `after` is unknown.
pub(crate) async fn list(
    conn: &mut AsyncPgConnection,
    limit: usize,
    after: Option<BusinessId>,
) -> Result<Option<Vec<Listed>>, StoreError> {
    let mut query = businesses::table
        .inner_join(go_live_facts::table)
        .inner_join(users::table)
        .left_join(pickup_profiles::table)
        // Of several owners the one who came first stands for them.
        .filter(sql::<Bool>(
            "users.id = (SELECT min(owner.id) FROM users AS owner \
             WHERE owner.business_id = businesses.id AND owner.role = 'owner')",
        ))
        .select((
            BusinessRow::as_select(),
            (go_live_facts::successful_test_order_at, go_live_facts::wallet_funded_at),
            Option::<PickupRow>::as_select(),
            users::email,
        ))
        // Ids begin with the time they were made.
        .order(businesses::id.desc())
        .limit(i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1))
        .into_boxed();
    if let Some(after) = after {
        if find(conn, after).await?.is_none() {
            return Ok(None);
        }
        query = query.filter(businesses::id.lt(after.to_string()));
    }
    let rows: Vec<(BusinessRow, FactsRow, Option<PickupRow>, String)> = query.load(conn).await?;
    let listed = rows.into_iter().map(|(business, facts, pickup, owner_email)| {
        Ok(Listed { standing: Standing::try_from((business, facts, pickup))?, owner_email })
    });
    listed.collect::<Result<_, StoreError>>().map(Some)
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

    fn try_from((business, (test_order_at, funded_at), pickup): StandingRow) -> Result<Self, StoreError> {
        Ok(Self {
            business: business.try_into()?,
            successful_test_order: test_order_at.is_some(),
            wallet_funded: funded_at.is_some(),
            pickup: pickup.map(Into::into),
        })
    }
}

//! Endpoints, with the health that their owners see.

use chrono::{DateTime, Utc};
use diesel::dsl::count_star;
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EndpointId};
use postgres::{StoreError, statement};

use super::corrupt;
use super::failing::sent_notices;
use super::parked::count_parked;
use super::schema::{endpoint_health, endpoints};
use crate::domain::{EncryptedSecret, Endpoint, EndpointFacts, EndpointHealth, ForgeryTest};

#[derive(Queryable, Selectable)]
#[diesel(table_name = endpoints, check_for_backend(diesel::pg::Pg))]
struct EndpointRow {
    id: String,
    business_id: String,
    url: String,
    events: Vec<String>,
    modes: Vec<String>,
    paused: bool,
    next_secret_from: Option<DateTime<Utc>>,
    max_per_second: Option<i32>,
    created_at: DateTime<Utc>,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = endpoint_health, check_for_backend(diesel::pg::Pg))]
struct HealthRow {
    last_delivery_at: Option<DateTime<Utc>>,
    last_delivery_succeeded: Option<bool>,
    failing_since: Option<DateTime<Utc>>,
    tripped_until: Option<DateTime<Utc>>,
    disabled_at: Option<DateTime<Utc>>,
    disabled_reason: Option<String>,
    connection_test: String,
    test_event_id: Option<String>,
    forged_event_id: Option<String>,
    forged_refused: Option<bool>,
    forged_at: Option<DateTime<Utc>>,
}

#[derive(Insertable)]
#[diesel(table_name = endpoints)]
struct NewEndpointRow<'a> {
    id: String,
    business_id: String,
    url: &'a str,
    events: Vec<&'static str>,
    modes: Vec<&'static str>,
    paused: bool,
    max_per_second: Option<i32>,
    secret_ciphertext: &'a [u8],
    secret_key_id: &'a str,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

/// The changes that an owner may make; none means unchanged.
#[derive(AsChangeset)]
#[diesel(table_name = endpoints)]
pub(crate) struct EndpointChange {
    pub url: Option<String>,
    pub events: Option<Vec<String>>,
    pub modes: Option<Vec<String>>,
    pub paused: Option<bool>,
    /// `Some(None)` removes the limit.
    pub max_per_second: Option<Option<i32>>,
    pub updated_at: DateTime<Utc>,
}

type Rows = (EndpointRow, HealthRow);

fn forgery_test(health: &HealthRow) -> Result<Option<ForgeryTest>, StoreError> {
    let (Some(test_event), Some(forged_event), Some(at)) =
        (&health.test_event_id, &health.forged_event_id, health.forged_at)
    else {
        return Ok(None);
    };
    Ok(Some(ForgeryTest {
        test_event: test_event.parse().map_err(corrupt)?,
        forged_event: forged_event.parse().map_err(corrupt)?,
        refused: health.forged_refused,
        at,
    }))
}

fn endpoint((row, health): Rows) -> Result<Endpoint, StoreError> {
    Ok(Endpoint {
        id: row.id.parse().map_err(corrupt)?,
        business_id: row.business_id.parse().map_err(corrupt)?,
        url: row.url,
        events: row.events.iter().map(|kind| kind.parse()).collect::<Result<_, _>>().map_err(corrupt)?,
        modes: row.modes.iter().map(|mode| mode.parse()).collect::<Result<_, _>>().map_err(corrupt)?,
        next_secret_from: row.next_secret_from,
        max_per_second: row.max_per_second,
        created_at: row.created_at,
        facts: EndpointFacts {
            paused: row.paused,
            disabled: health.disabled_at.is_some(),
            last_delivery_at: health.last_delivery_at,
            last_delivery_succeeded: health.last_delivery_succeeded,
            connection_test: health.connection_test.parse().map_err(corrupt)?,
            forgery_test: forgery_test(&health)?,
        },
        health: EndpointHealth {
            failing_since: health.failing_since,
            tripped_until: health.tripped_until,
            disabled_at: health.disabled_at,
            disabled_reason: health.disabled_reason,
            ..EndpointHealth::default()
        },
    })
}

/// Serialises the creation of endpoints of a business, until the transaction ends.
pub(crate) async fn lock_business(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
) -> Result<(), StoreError> {
    statement("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))")
        .bind::<diesel::sql_types::Text, _>(business.to_string())
        .execute(conn)
        .await?;
    Ok(())
}

pub(crate) async fn count_endpoints(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
) -> Result<i64, StoreError> {
    Ok(endpoints::table
        .filter(endpoints::business_id.eq(business.to_string()))
        .filter(endpoints::deleted_at.is_null())
        .select(count_star())
        .first(conn)
        .await?)
}

pub(crate) async fn insert_endpoint(
    conn: &mut AsyncPgConnection,
    new: &Endpoint,
    secret: &EncryptedSecret,
) -> Result<(), StoreError> {
    let row = NewEndpointRow {
        id: new.id.to_string(),
        business_id: new.business_id.to_string(),
        url: &new.url,
        events: new.events.iter().map(|kind| kind.as_str()).collect(),
        modes: new.modes.iter().map(|mode| mode.as_str()).collect(),
        paused: new.facts.paused,
        max_per_second: new.max_per_second,
        secret_ciphertext: &secret.ciphertext,
        secret_key_id: &secret.key_id,
        created_at: new.created_at,
        updated_at: new.created_at,
    };
    diesel::insert_into(endpoints::table).values(row).execute(conn).await?;
    let connection_test: &str = new.facts.connection_test.into();
    diesel::insert_into(endpoint_health::table)
        .values((
            endpoint_health::endpoint_id.eq(new.id.to_string()),
            endpoint_health::business_id.eq(new.business_id.to_string()),
            endpoint_health::connection_test.eq(connection_test),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

pub(crate) async fn find_endpoint(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: EndpointId,
) -> Result<Option<Endpoint>, StoreError> {
    let rows: Option<Rows> = endpoints::table
        .inner_join(
            endpoint_health::table.on(endpoint_health::endpoint_id
                .eq(endpoints::id)
                .and(endpoint_health::business_id.eq(endpoints::business_id))),
        )
        .filter(endpoints::business_id.eq(business.to_string()))
        .filter(endpoints::id.eq(id.to_string()))
        .filter(endpoints::deleted_at.is_null())
        .select((EndpointRow::as_select(), HealthRow::as_select()))
        .first(conn)
        .await
        .optional()?;
    let mut found = Vec::from_iter(rows.map(endpoint).transpose()?);
    add_details(conn, business, &mut found).await?;
    Ok(found.pop())
}

/// The businesses with an endpoint, in the order of their ids, after this id. Serves all businesses.
pub(crate) async fn businesses_with_endpoints(
    conn: &mut AsyncPgConnection,
    after: &str,
    limit: i64,
) -> Result<Vec<BusinessId>, StoreError> {
    let ids: Vec<String> = endpoints::table
        .filter(endpoints::business_id.gt(after))
        .filter(endpoints::deleted_at.is_null())
        .select(endpoints::business_id)
        .distinct()
        .order(endpoints::business_id)
        .limit(limit)
        .load(conn)
        .await?;
    ids.iter().map(|id| id.parse().map_err(corrupt)).collect()
}

/// Newest first, after the given one.
pub(crate) async fn list_endpoints(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    after: Option<EndpointId>,
    limit: i64,
) -> Result<Vec<Endpoint>, StoreError> {
    let mut query = endpoints::table
        .inner_join(
            endpoint_health::table.on(endpoint_health::endpoint_id
                .eq(endpoints::id)
                .and(endpoint_health::business_id.eq(endpoints::business_id))),
        )
        .filter(endpoints::business_id.eq(business.to_string()))
        .filter(endpoints::deleted_at.is_null())
        .select((EndpointRow::as_select(), HealthRow::as_select()))
        .order(endpoints::id.desc())
        .limit(limit)
        .into_boxed();
    if let Some(after) = after {
        query = query.filter(endpoints::id.lt(after.to_string()));
    }
    let rows: Vec<Rows> = query.load(conn).await?;
    let mut endpoints: Vec<Endpoint> = rows.into_iter().map(endpoint).collect::<Result<_, _>>()?;
    add_details(conn, business, &mut endpoints).await?;
    Ok(endpoints)
}

/// Adds the numbers of parked deliveries and the sent notices.
async fn add_details(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    endpoints: &mut [Endpoint],
) -> Result<(), StoreError> {
    let ids: Vec<String> = endpoints.iter().map(|endpoint| endpoint.id.to_string()).collect();
    let mut parked = count_parked(conn, business, &ids).await?;
    let mut notices = sent_notices(conn, business, &ids).await?;
    for endpoint in endpoints {
        endpoint.health.parked = parked.remove(&endpoint.id).unwrap_or_default();
        endpoint.health.notices = notices.remove(&endpoint.id).unwrap_or_default();
    }
    Ok(())
}

/// Returns false if there is no such endpoint.
pub(crate) async fn update_endpoint(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: EndpointId,
    change: &EndpointChange,
) -> Result<bool, StoreError> {
    let changed = diesel::update(endpoints::table)
        .filter(endpoints::business_id.eq(business.to_string()))
        .filter(endpoints::id.eq(id.to_string()))
        .filter(endpoints::deleted_at.is_null())
        .set(change)
        .execute(conn)
        .await?;
    Ok(changed == 1)
}

/// Returns false if there is no such endpoint.
pub(crate) async fn delete_endpoint(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: EndpointId,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let deleted = diesel::update(endpoints::table)
        .filter(endpoints::business_id.eq(business.to_string()))
        .filter(endpoints::id.eq(id.to_string()))
        .filter(endpoints::deleted_at.is_null())
        .set((endpoints::deleted_at.eq(now), endpoints::updated_at.eq(now)))
        .execute(conn)
        .await?;
    Ok(deleted == 1)
}

//! Pickup profiles.

use chrono::{DateTime, Utc};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::BusinessId;
use postgres::StoreError;

use crate::business::domain::PickupProfile;
use crate::store::schema::pickup_profiles;
use diesel::prelude::*;

#[derive(Queryable, Selectable, Insertable, AsChangeset, PartialEq)]
#[diesel(table_name = pickup_profiles)]
#[diesel(treat_none_as_null = true)]
pub(crate) struct PickupRow {
    business_name: String,
    contact_name: String,
    phone: String,
    address_line1: String,
    address_line2: Option<String>,
    city: String,
    state: String,
    pincode: String,
    landmark: Option<String>,
    latitude: Option<f64>,
    longitude: Option<f64>,
    full_address: Option<String>,
}

pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
) -> Result<Option<PickupProfile>, StoreError> {
    let row = pickup_profiles::table
        .find(business.to_string())
        .select(PickupRow::as_select())
        .first(conn)
        .await
        .optional()?;
    Ok(row.map(Into::into))
}

pub(crate) async fn remove(conn: &mut AsyncPgConnection, business: BusinessId) -> Result<(), StoreError> {
    diesel::delete(pickup_profiles::table.find(business.to_string())).execute(conn).await?;
    Ok(())
}

/// Inserts or replaces the profile.
pub(crate) async fn put(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    profile: &PickupProfile,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    diesel::insert_into(pickup_profiles::table)
        .values((
            pickup_profiles::business_id.eq(business.to_string()),
            PickupRow::from(profile.clone()),
            pickup_profiles::updated_at.eq(now),
        ))
        .on_conflict(pickup_profiles::business_id)
        .do_update()
        .set((PickupRow::from(profile.clone()), pickup_profiles::updated_at.eq(now)))
        .execute(conn)
        .await?;
    Ok(())
}

impl From<PickupRow> for PickupProfile {
    fn from(row: PickupRow) -> Self {
        Self {
            business_name: row.business_name,
            contact_name: row.contact_name,
            phone: row.phone,
            address_line1: row.address_line1,
            address_line2: row.address_line2,
            city: row.city,
            state: row.state,
            pincode: row.pincode,
            landmark: row.landmark,
            latitude: row.latitude,
            longitude: row.longitude,
            full_address: row.full_address,
        }
    }
}

impl From<PickupProfile> for PickupRow {
    fn from(profile: PickupProfile) -> Self {
        Self {
            business_name: profile.business_name,
            contact_name: profile.contact_name,
            phone: profile.phone,
            address_line1: profile.address_line1,
            address_line2: profile.address_line2,
            city: profile.city,
            state: profile.state,
            pincode: profile.pincode,
            landmark: profile.landmark,
            latitude: profile.latitude,
            longitude: profile.longitude,
            full_address: profile.full_address,
        }
    }
}

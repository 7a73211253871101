//! Contacts of businesses.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::BusinessId;
use postgres::StoreError;

use crate::business::domain::Contact;
use crate::store::schema::business_contacts;

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = business_contacts)]
#[diesel(treat_none_as_null = true)]
struct ContactRow {
    name: Option<String>,
    email: Option<String>,
    phone: Option<String>,
    gstin: Option<String>,
}

impl From<&Contact> for ContactRow {
    fn from(contact: &Contact) -> Self {
        let Contact { name, email, phone, gstin } = contact.clone();
        Self { name, email, phone, gstin }
    }
}

/// Empty without one.
pub(crate) async fn find(conn: &mut AsyncPgConnection, business: BusinessId) -> Result<Contact, StoreError> {
    let row = business_contacts::table
        .find(business.to_string())
        .select(ContactRow::as_select())
        .first(conn)
        .await
        .optional()?;
    let contact = |ContactRow { name, email, phone, gstin }| Contact { name, email, phone, gstin };
    Ok(row.map(contact).unwrap_or_default())
}

/// Inserts or replaces the contact.
pub(crate) async fn put(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    contact: &Contact,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    diesel::insert_into(business_contacts::table)
        .values((
            business_contacts::business_id.eq(business.to_string()),
            ContactRow::from(contact),
            business_contacts::updated_at.eq(now),
        ))
        .on_conflict(business_contacts::business_id)
        .do_update()
        .set((ContactRow::from(contact), business_contacts::updated_at.eq(now)))
        .execute(conn)
        .await?;
    Ok(())
}

pub(crate) async fn remove(conn: &mut AsyncPgConnection, business: BusinessId) -> Result<(), StoreError> {
    diesel::delete(business_contacts::table.find(business.to_string())).execute(conn).await?;
    Ok(())
}

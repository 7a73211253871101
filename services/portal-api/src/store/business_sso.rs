//! The identity providers of businesses.

use diesel::upsert::excluded;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::BusinessId;
use identity::single_sign_on::GroupRoles;
use identity::stored;
use postgres::StoreError;
use serde_json::{Value, json};

use crate::domain::Role;
use crate::single_sign_on::domain::{BusinessSso, CompanyDomain, SsoAccess, SsoProvider};
use crate::store::schema::business_sso;
use diesel::prelude::*;

#[derive(Queryable, Selectable)]
#[diesel(table_name = business_sso)]
struct Row {
    issuer: String,
    client_id: String,
    sealed_secret: Vec<u8>,
    scopes: String,
    groups_claim: String,
    group_roles: Value,
    default_role: Option<String>,
    allowed_domains: Vec<String>,
    required: bool,
    updated_at: chrono::DateTime<chrono::Utc>,
}

pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
) -> Result<Option<BusinessSso>, StoreError> {
    let row = business_sso::table.find(business.to_string()).select(Row::as_select());
    row.first(conn).await.optional()?.map(BusinessSso::try_from).transpose()
}

/// Whether only owners may log in with a password.
pub(crate) async fn is_required(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
) -> Result<bool, StoreError> {
    let required = business_sso::table.find(business.to_string()).select(business_sso::required);
    Ok(required.first(conn).await.optional()?.unwrap_or(false))
}

/// Replaces what was set up before.
pub(crate) async fn put(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    sso: &BusinessSso,
) -> Result<(), StoreError> {
    let pairs = sso.access.roles.iter();
    let roles: Vec<Value> =
        pairs.map(|(group, role)| json!({ "group": group, "role": role.as_str() })).collect();
    let allowed_domains: Vec<&str> = sso.access.allowed_domains.iter().map(CompanyDomain::as_str).collect();
    diesel::insert_into(business_sso::table)
        .values((
            business_sso::business_id.eq(business.to_string()),
            business_sso::issuer.eq(&sso.provider.issuer),
            business_sso::client_id.eq(&sso.provider.client_id),
            business_sso::sealed_secret.eq(&sso.provider.sealed_secret),
            business_sso::scopes.eq(&sso.provider.scopes),
            business_sso::groups_claim.eq(&sso.provider.groups_claim),
            business_sso::group_roles.eq(Value::from(roles)),
            business_sso::default_role.eq(sso.access.default_role.map(Role::as_str)),
            business_sso::allowed_domains.eq(allowed_domains),
            business_sso::required.eq(sso.access.required),
            business_sso::updated_at.eq(sso.updated_at),
        ))
        .on_conflict(business_sso::business_id)
        .do_update()
        .set((
            business_sso::issuer.eq(excluded(business_sso::issuer)),
            business_sso::client_id.eq(excluded(business_sso::client_id)),
            business_sso::sealed_secret.eq(excluded(business_sso::sealed_secret)),
            business_sso::scopes.eq(excluded(business_sso::scopes)),
            business_sso::groups_claim.eq(excluded(business_sso::groups_claim)),
            business_sso::group_roles.eq(excluded(business_sso::group_roles)),
            business_sso::default_role.eq(excluded(business_sso::default_role)),
            business_sso::allowed_domains.eq(excluded(business_sso::allowed_domains)),
            business_sso::required.eq(excluded(business_sso::required)),
            business_sso::updated_at.eq(excluded(business_sso::updated_at)),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// False if nothing was set up.
pub(crate) async fn remove(conn: &mut AsyncPgConnection, business: BusinessId) -> Result<bool, StoreError> {
    Ok(diesel::delete(business_sso::table.find(business.to_string())).execute(conn).await? == 1)
}

impl TryFrom<Row> for BusinessSso {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let default_role = row.default_role.as_deref();
        Ok(Self {
            access: SsoAccess {
                roles: group_roles(&row.group_roles)?,
                default_role: default_role
                    .map(|role| stored("business_sso.default_role", role))
                    .transpose()?,
                allowed_domains: row
                    .allowed_domains
                    .iter()
                    .map(|domain| stored("business_sso.allowed_domains", domain))
                    .collect::<Result<_, _>>()?,
                required: row.required,
            },
            provider: SsoProvider {
                issuer: row.issuer,
                client_id: row.client_id,
                sealed_secret: row.sealed_secret,
                scopes: row.scopes,
                groups_claim: row.groups_claim,
            },
            updated_at: row.updated_at,
        })
    }
}

fn group_roles(value: &Value) -> Result<GroupRoles<Role>, StoreError> {
    let pair = |pair: &Value| {
        let text = |name: &str| pair[name].as_str().unwrap_or_default();
        Ok((text("group").to_owned(), stored("business_sso.group_roles", text("role"))?))
    };
    value.as_array().map(Vec::as_slice).unwrap_or_default().iter().map(pair).collect()
}

//! Open invitations.

use chrono::{DateTime, Utc};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, Email, InvitationId, UserId};
use identity::{LinkToken, prune, stored};
use postgres::StoreError;

use crate::business::domain::BusinessStatus;
use crate::domain::Invitation;
use crate::store::schema::{businesses, invitations};
use diesel::prelude::*;

#[derive(Queryable, Selectable)]
#[diesel(table_name = invitations)]
struct InvitationRow {
    id: String,
    business_id: String,
    email: String,
    role: String,
    invited_by: String,
    invited_by_email: String,
    created_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
    mailed: bool,
}

/// Inserts the invitation, and removes an older one to the same e-mail address.
pub(crate) async fn replace(
    conn: &mut AsyncPgConnection,
    invitation: &Invitation,
    token: &LinkToken,
) -> Result<(), StoreError> {
    let older = invitations::table
        .filter(invitations::business_id.eq(invitation.business.to_string()))
        .filter(invitations::email_key.eq(invitation.email.key()));
    diesel::delete(older).execute(conn).await?;
    diesel::insert_into(invitations::table)
        .values((
            invitations::id.eq(invitation.id.to_string()),
            invitations::token_hash.eq(token.digest().to_vec()),
            invitations::business_id.eq(invitation.business.to_string()),
            invitations::email.eq(invitation.email.as_str()),
            invitations::email_key.eq(invitation.email.key()),
            invitations::role.eq(invitation.role.as_str()),
            invitations::invited_by.eq(invitation.invited_by.to_string()),
            invitations::invited_by_email.eq(&invitation.invited_by_email),
            invitations::created_at.eq(invitation.created_at),
            invitations::expires_at.eq(invitation.expires_at),
            invitations::mailed.eq(invitation.mailed),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// How many invitations to other e-mail addresses are open. Exact while the business's row is locked.
pub(crate) async fn count_others(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    email: &Email,
    now: DateTime<Utc>,
) -> Result<i64, StoreError> {
    let others = invitations::table
        .filter(invitations::business_id.eq(business.to_string()))
        .filter(invitations::email_key.ne(email.key()))
        .filter(invitations::expires_at.gt(now));
    Ok(others.count().get_result(conn).await?)
}

/// Open invitations, newest first. Reads one more than `limit` to show that more follow. `None` if `after` is not among them.
pub(crate) async fn list(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    limit: usize,
    after: Option<InvitationId>,
    now: DateTime<Utc>,
) -> Result<Option<Vec<Invitation>>, StoreError> {
    let mut query = invitations::table
        .filter(invitations::business_id.eq(business.to_string()))
        .filter(invitations::expires_at.gt(now))
        .order(invitations::id.desc())
        .limit(i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1))
        .select(InvitationRow::as_select())
        .into_boxed();
    if let Some(after) = after {
        let known = invitations::table
            .find(after.to_string())
            .filter(invitations::business_id.eq(business.to_string()));
        if !diesel::select(diesel::dsl::exists(known)).get_result::<bool>(conn).await? {
            return Ok(None);
        }
        query = query.filter(invitations::id.lt(after.to_string()));
    }
    let rows: Vec<InvitationRow> = query.load(conn).await?;
    rows.into_iter().map(Invitation::try_from).collect::<Result<_, _>>().map(Some)
}

/// The invitation of a link, with the name and the status of the business, unless it has expired.
pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    token: &LinkToken,
    now: DateTime<Utc>,
) -> Result<Option<(Invitation, String, BusinessStatus)>, StoreError> {
    let row: Option<(InvitationRow, String, String)> = invitations::table
        .inner_join(businesses::table)
        .filter(invitations::token_hash.eq(token.digest().to_vec()))
        .filter(invitations::expires_at.gt(now))
        .select((InvitationRow::as_select(), businesses::name, businesses::status))
        .first(conn)
        .await
        .optional()?;
    row.map(|(row, name, status)| Ok((row.try_into()?, name, stored("businesses.status", &status)?)))
        .transpose()
}

/// Accepts or withdraws an invitation. `None` if that has already happened.
pub(crate) async fn remove(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    invitation: InvitationId,
) -> Result<Option<Invitation>, StoreError> {
    let invitation = invitations::table
        .find(invitation.to_string())
        .filter(invitations::business_id.eq(business.to_string()));
    let row: Option<InvitationRow> = diesel::delete(invitation)
        .returning(InvitationRow::as_returning())
        .get_result(conn)
        .await
        .optional()?;
    row.map(Invitation::try_from).transpose()
}

/// Withdraws the invitations sent by this user.
pub(crate) async fn remove_sent_by(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    user: UserId,
) -> Result<usize, StoreError> {
    let sent = invitations::table
        .filter(invitations::business_id.eq(business.to_string()))
        .filter(invitations::invited_by.eq(user.to_string()));
    Ok(diesel::delete(sent).execute(conn).await?)
}

/// Deletes at most `max` invitations that expired before `before`, and returns how many.
pub(crate) async fn prune(
    conn: &mut AsyncPgConnection,
    before: DateTime<Utc>,
    max: i64,
) -> Result<usize, StoreError> {
    prune!(conn, max, invitations::id: String, invitations::expires_at.lt(before))
}

impl TryFrom<InvitationRow> for Invitation {
    type Error = StoreError;

    fn try_from(row: InvitationRow) -> Result<Self, StoreError> {
        let corrupt = || StoreError::Corrupt("invitations.email has an unexpected value".into());
        Ok(Self {
            id: stored("invitations.id", &row.id)?,
            business: stored("invitations.business_id", &row.business_id)?,
            email: Email::parse(&row.email).ok_or_else(corrupt)?,
            role: stored("invitations.role", &row.role)?,
            invited_by: stored("invitations.invited_by", &row.invited_by)?,
            invited_by_email: row.invited_by_email,
            created_at: row.created_at,
            expires_at: row.expires_at,
            mailed: row.mailed,
        })
    }
}

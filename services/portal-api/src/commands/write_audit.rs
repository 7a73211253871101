//! Writing down who did what: with the change itself where the change is ours, else right after its owner has made it.

use diesel_async::AsyncPgConnection;
use domain::{AuditEntryId, BusinessId};
use postgres::StoreError;

use crate::app::App;
use crate::domain::{Act, Author};
use crate::store::audit_log::{self, Entry};

/// Within the caller's transaction.
pub(super) async fn write_audit(
    conn: &mut AsyncPgConnection,
    app: &App,
    business: BusinessId,
    author: &Author,
    act: &Act,
) -> Result<(), StoreError> {
    if act.once && audit_log::has(conn, business, act).await? {
        return Ok(());
    }
    let id = AuditEntryId::generate(&app.clock, &app.entropy);
    let entry = Entry { id, at: app.clock.now(), author, act };
    audit_log::insert(conn, business, &entry).await
}

/// What has been done stays done whether or not it can be written down; a line that is lost is told in the service's
/// own log instead.
pub(crate) async fn note_act(app: &App, business: BusinessId, author: &Author, act: &Act) {
    let written: Result<(), StoreError> =
        app.database.read(async |conn| write_audit(conn, app, business, author, act).await).await;
    if let Err(error) = written {
        tracing::warn!(%error, business_id = %business, action = %act.action, "a line of the audit log is lost");
    }
}

//! A user logs out.

use domain::RequestId;
use identity::{CallerAddress, SessionToken};
use postgres::StoreError;
use url::Url;

use crate::audit::commands::audit::write_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::domain::Session;
use crate::single_sign_on::domain::BusinessSso;
use crate::state::State;
use crate::store::{business_sso, user_sessions};

/// Ends the session, and returns the page that ends the one at the identity provider, if there is one. Does nothing if the session has
/// already ended.
pub(crate) async fn log_out(
    state: &State,
    token: &SessionToken,
    (request, address): (Option<RequestId>, Option<CallerAddress>),
) -> Result<Option<Url>, StoreError> {
    let now = state.unit.clock.now();
    let ended: Result<Option<Session>, StoreError> = state
        .unit
        .database
        .transaction(async |conn| {
            let Some(session) = user_sessions::end_by_token(conn, token, state.user_sessions.at(now)).await?
            else {
                return Ok(None);
            };
            let target = Target::new(TargetKind::Session, session.id);
            let event = AuditEvent::new(Action::SessionClosed).on(target);
            let author = Author::of(&session, request).at(address.clone());
            write_audit(conn, state, session.business, &author, &event).await?;
            Ok(Some(session))
        })
        .await;
    let Some(session) = ended? else { return Ok(None) };
    tracing::info!(session_id = %session.id, "user logged out");
    at_provider(state, &session).await
}

async fn at_provider(state: &State, session: &Session) -> Result<Option<Url>, StoreError> {
    if !session.single_sign_on || !state.business_sso.is_available() {
        return Ok(None);
    }
    let business = session.business;
    let database = &state.unit.database;
    let found = database.read(async |conn| business_sso::find(conn, business).await).await;
    let found: Option<BusinessSso> = found?;
    let Some(Ok(party)) = found.map(|sso| state.business_sso.party(business, &sso.provider)) else {
        return Ok(None);
    };
    Ok(party.log_out_url(&state.business_sso.log_in_url(business)).await)
}

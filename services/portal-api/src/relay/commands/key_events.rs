//! Entries of the audit log about API keys.

use internal_api::keys::{ApiKeyView, RevokedApiKey};

use crate::audit::domain::{Action, AuditEvent, Target, TargetKind};

/// One for each key: `portal-api reconcile` finds a key that works again by them.
pub(crate) fn revoked_events(revoked: &RevokedApiKey) -> Vec<AuditEvent> {
    let event = |key: &ApiKeyView| AuditEvent { once: true, ..key_event(Action::ApiKeyRevoked, key) };
    let key = revoked.view.id.to_string();
    let also = revoked.also_revoked.iter().map(|one| event(one).with("revokedWith", key.as_str()));
    std::iter::once(event(&revoked.view)).chain(also).collect()
}

/// The label contains only the public parts of the key.
pub(crate) fn key_event(action: Action, key: &ApiKeyView) -> AuditEvent {
    let target =
        Target::new(TargetKind::ApiKey, key.id).labelled(format!("{}…{}", key.prefix, key.last_four));
    AuditEvent::new(action).on(target).with("mode", key.mode.as_str()).with("name", key.name.as_str())
}

/** Labels of audit actions, by topic. Unknown actions are shown by their code. */
export const ACTION_GROUPS: Record<string, Record<string, string>> = {
  Access: {
    "account.created": "Account created",
    "session.opened": "Logged in",
    "session.failed": "Login failed",
    "session.confirmed": "Identity confirmed",
    "session.confirmation_failed": "Confirmation failed",
    "session.closed": "Logged out",
    "session.revoked": "Session ended",
    "second_factor.enrolled": "Two-factor authentication turned on",
    "second_factor.removed": "Two-factor authentication turned off",
    "second_factor.reset": "Two-factor authentication reset",
    "second_factor.recovery_codes_created": "Recovery codes created",
    "passkey.added": "Passkey added",
    "passkey.removed": "Passkey removed",
    "audit_log.exported": "Audit log exported",
    "password.changed": "Password changed",
    "password.reset_requested": "Password reset requested",
    "password.reset_issued": "Reset link created",
    "password.reset": "Password reset",
  },
  Team: {
    "user.invited": "User invited",
    "user.joined": "User joined",
    "user.role_changed": "Role changed",
    "user.removed": "User removed",
    "user.name_changed": "Name changed",
    "user.email_verified": "E-mail address confirmed",
    "user.email_change_requested": "Change of e-mail address requested",
    "user.email_changed": "E-mail address changed",
    "user.provisioned": "User created by single sign-on",
    "user.identity_linked": "User linked with single sign-on",
    "invitation.withdrawn": "Invitation withdrawn",
  },
  "API keys": {
    "api_key.created": "API key created",
    "api_key.rotated": "API key rotated",
    "api_key.revoked": "API key revoked",
  },
  Webhooks: {
    "webhook_endpoint.created": "Endpoint created",
    "webhook_endpoint.updated": "Endpoint changed",
    "webhook_endpoint.deleted": "Endpoint deleted",
    "webhook_endpoint.tested": "Endpoint tested",
    "webhook_endpoint.parked_replayed": "Held webhooks replayed",
    "webhook_endpoint.parked_discarded": "Held webhooks discarded",
    "webhook_secret.rotated": "Signing secret rotated",
    "webhook_secret.activated": "Signing secret activated",
    "webhook_delivery.redelivered": "Webhook redelivered",
    "webhook_recovery.started": "Recovery started",
    "webhook_recovery.cancelled": "Recovery cancelled",
  },
  Orders: {
    "order.simulated": "Test order simulated",
    "order.cancelled": "Order cancelled",
    "order.personal_data_erased": "Personal data erased",
  },
  Money: {
    "wallet.topped_up": "Wallet topped up",
    "wallet.credited": "Wallet credited",
    "wallet.debited": "Wallet debited",
    "remittance.recorded": "Bank transfer of cash recorded",
    "cash_difference.assigned": "Cash discrepancy assigned",
    "wallet.threshold_changed": "Low-balance warning changed",
    "subscription.requested": "Plan requested",
  },
  Business: {
    "pickup_profile.changed": "Pickup profile changed",
    "business.changed": "Business changed",
    "business.renamed": "Business renamed",
    "single_sign_on.changed": "Single sign-on set up",
    "single_sign_on.removed": "Single sign-on turned off",
    "business.personal_data_erasure_requested": "Erasure of personal data requested",
  },
};

const LABELS: Record<string, string> = Object.assign({}, ...Object.values(ACTION_GROUPS));

export function actionLabel(action: string): string {
  return LABELS[action] ?? action;
}

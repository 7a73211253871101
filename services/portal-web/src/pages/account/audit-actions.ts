/** What each action of the audit log is called. An action that is not here is shown by its code. */
export const ACTIONS: Record<string, string> = {
  "session.opened": "Logged in",
  "session.failed": "Log-in failed",
  "session.closed": "Logged out",
  "session.revoked": "Log-in ended",
  "password.changed": "Password changed",
  "password.reset_requested": "Password reset asked for",
  "password.reset": "Password reset",
  "api_key.created": "API key created",
  "api_key.rotated": "API key rotated",
  "api_key.revoked": "API key revoked",
  "webhook_endpoint.created": "Webhook endpoint created",
  "webhook_endpoint.updated": "Webhook endpoint changed",
  "webhook_endpoint.deleted": "Webhook endpoint deleted",
  "order.cancelled": "Order cancelled",
  "wallet.topped_up": "Wallet topped up",
  "wallet.credited": "Wallet credited",
  "subscription.requested": "Plan asked for",
  "pickup_profile.changed": "Pickup profile changed",
  "user.invited": "User invited",
  "user.joined": "User joined",
  "user.role_changed": "Role changed",
  "user.removed": "User removed",
  "business.changed": "Business changed",
};

export function actionLabel(action: string): string {
  return ACTIONS[action] ?? action;
}

/** The details as lines: `mode: live`. What is nested is written as JSON. */
export function detailLines(details: Record<string, unknown>): string[] {
  return Object.entries(details)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(
      ([name, value]) =>
        `${words(name)}: ${typeof value === "object" ? JSON.stringify(value) : String(value)}`,
    );
}

/** `newRole` as `new role`. */
function words(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
}

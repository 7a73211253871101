import type { OperatorRole } from "../../api/types";

/** The least powerful first. */
export const OPERATOR_ROLES: OperatorRole[] = ["viewer", "support", "finance", "administrator"];

export const OPERATOR_ROLE_LABELS: Record<OperatorRole, string> = {
  administrator: "Administrator",
  finance: "Finance",
  support: "Support",
  viewer: "Viewer",
};

export const OPERATOR_ROLE_DESCRIPTIONS: Record<OperatorRole, string> = {
  administrator: "Full access, including staff, tokens, erasure of personal data, and the audit log.",
  finance: "Views businesses and cash. Credits and debits wallets, and takes credits back.",
  support: "Approves and changes businesses, helps their users, and views orders with the customers’ data.",
  viewer: "Views businesses and cash. Changes nothing, and sees no orders.",
};

/** The choices of a select. */
export const OPERATOR_ROLE_CHOICES = OPERATOR_ROLES.map((role) => ({
  value: role,
  label: OPERATOR_ROLE_LABELS[role],
}));

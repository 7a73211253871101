import type { OperatorPermission } from "../../api/types";

export interface ConsolePage {
  path: string;
  label: string;
  permission: OperatorPermission;
}

/** The pages of the navigation. Pages below one have its permission. */
export const CONSOLE_PAGES: ConsolePage[] = [
  { path: "/operator/overview", label: "Overview", permission: "read_businesses" },
  { path: "/operator/businesses", label: "Businesses", permission: "read_businesses" },
  { path: "/operator/orders", label: "Find an order", permission: "read_orders" },
  { path: "/operator/exceptions", label: "Needs attention", permission: "read_orders" },
  { path: "/operator/cash", label: "Cash", permission: "read_cash" },
  { path: "/operator/approvals", label: "Approvals", permission: "review_approvals" },
  { path: "/operator/staff", label: "Staff", permission: "manage_staff" },
  { path: "/operator/tokens", label: "Tokens", permission: "manage_tokens" },
  { path: "/operator/audit-log", label: "Audit log", permission: "read_audit_log" },
];

export function permissionOfPage(path: string): OperatorPermission | undefined {
  const page = CONSOLE_PAGES.find((one) => path === one.path || path.startsWith(`${one.path}/`));
  return page?.permission;
}

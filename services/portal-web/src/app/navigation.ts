import {
  type Icon,
  IconAlertTriangle,
  IconCash,
  IconFileSpreadsheet,
  IconKey,
  IconLayoutDashboard,
  IconListDetails,
  IconMapPin,
  IconPackage,
  IconReceipt,
  IconRocket,
  IconUserCog,
  IconWallet,
  IconWebhook,
} from "@tabler/icons-react";
import type { Permission } from "../api/types";

export interface NavigationEntry {
  path: string;
  label: string;
  icon: Icon;
  /** For this page and the pages below it; every role by default. */
  permission?: Permission;
}

/** The groups of the side bar. `routes.tsx` has a route for each path. */
export const NAVIGATION: { heading: string | null; entries: NavigationEntry[] }[] = [
  {
    heading: null,
    entries: [
      { path: "/", label: "Overview", icon: IconLayoutDashboard },
      { path: "/orders", label: "Orders", icon: IconPackage, permission: "read_orders" },
      { path: "/exceptions", label: "Needs attention", icon: IconAlertTriangle, permission: "read_orders" },
      { path: "/exports", label: "Exports", icon: IconFileSpreadsheet, permission: "read_orders" },
    ],
  },
  {
    heading: "Developers",
    entries: [
      { path: "/quick-start", label: "Quick start", icon: IconRocket, permission: "read_keys" },
      { path: "/api-keys", label: "API keys", icon: IconKey, permission: "read_keys" },
      { path: "/webhooks", label: "Webhooks", icon: IconWebhook, permission: "read_webhooks" },
      { path: "/events", label: "Events", icon: IconListDetails, permission: "read_orders" },
    ],
  },
  {
    heading: "Business",
    entries: [
      { path: "/wallet", label: "Wallet", icon: IconWallet, permission: "read_money" },
      { path: "/cash-on-delivery", label: "Cash on delivery", icon: IconCash, permission: "read_money" },
      { path: "/subscription", label: "Subscription", icon: IconReceipt },
      { path: "/pickup-profile", label: "Pickup profile", icon: IconMapPin },
      { path: "/account", label: "Account", icon: IconUserCog },
    ],
  },
];

/** Whether the side bar has this page. */
export function hasPage(path: string): boolean {
  return NAVIGATION.some((group) => group.entries.some((entry) => entry.path === path));
}

/** The permission of a page. Pages below one of the side bar have its permission. */
export function permissionOf(path: string): Permission | undefined {
  const entries = NAVIGATION.flatMap((group) => group.entries);
  return entries.find((entry) => path === entry.path || path.startsWith(`${entry.path}/`))?.permission;
}

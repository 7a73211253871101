import {
  type Icon,
  IconCash,
  IconKey,
  IconLayoutDashboard,
  IconListDetails,
  IconMapPin,
  IconPackage,
  IconReceipt,
  IconUserCog,
  IconWallet,
  IconWebhook,
} from "@tabler/icons-react";
import type { Role } from "../api/types";

export interface NavigationEntry {
  path: string;
  label: string;
  icon: Icon;
  /** The lowest role that sees the entry; every role by default. */
  minRole?: Role;
}

/** The groups of the side bar. `routes.tsx` has a route for each path. */
export const NAVIGATION: { heading: string | null; entries: NavigationEntry[] }[] = [
  {
    heading: null,
    entries: [
      { path: "/", label: "Overview", icon: IconLayoutDashboard },
      { path: "/orders", label: "Orders", icon: IconPackage },
    ],
  },
  {
    heading: "Developers",
    entries: [
      { path: "/api-keys", label: "API keys", icon: IconKey },
      { path: "/webhooks", label: "Webhooks", icon: IconWebhook },
      { path: "/events", label: "Events", icon: IconListDetails },
    ],
  },
  {
    heading: "Business",
    entries: [
      { path: "/wallet", label: "Wallet", icon: IconWallet },
      { path: "/cash-on-delivery", label: "Cash on delivery", icon: IconCash },
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

import { Tabs } from "@mantine/core";
import type { ReactNode } from "react";
import { useLocation, useNavigate } from "react-router-dom";
import { may, useSession } from "../../app/session";
import { PageHeader } from "../../components/page-header";
import { sentence } from "../../format/order-labels";
import { joinList } from "../../format/service-names";

const TABS = [
  { path: "/account", label: "Profile and security", permission: "use_account" },
  { path: "/account/team", label: "Team", permission: "manage_users" },
  { path: "/account/single-sign-on", label: "Single sign-on", permission: "manage_single_sign_on" },
  { path: "/account/audit-log", label: "Audit log", permission: "read_audit_log" },
  { path: "/account/closing", label: "Close business", permission: "manage_business" },
] as const;

/** The account pages as tabs. */
export function AccountFrame({ children }: { children: ReactNode }) {
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const session = useSession();
  const tabs = TABS.filter((tab) => may(session, tab.permission));
  return (
    <>
      <PageHeader title="Account" description={description(tabs.map(({ path }) => path))} />
      <Tabs value={pathname} onChange={(path) => path && navigate(path)} activateTabWithKeyboard={false}>
        <Tabs.List aria-label="Account" mb="lg">
          {tabs.map((tab) => (
            <Tabs.Tab key={tab.path} value={tab.path}>
              {tab.label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={pathname}>{children}</Tabs.Panel>
      </Tabs>
    </>
  );
}

/** What the tabs of the user's role contain. */
function description(paths: string[]): string {
  const parts = ["your profile", "password", "sessions"];
  if (paths.includes("/account/team")) parts.push("your team");
  if (paths.includes("/account/audit-log")) parts.push("the audit log");
  return `${sentence(joinList(parts))}.`;
}

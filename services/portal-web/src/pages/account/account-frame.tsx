import { Tabs } from "@mantine/core";
import type { ReactNode } from "react";
import { useLocation, useNavigate } from "react-router-dom";
import { may, useSession } from "../../app/session";
import { PageHeader } from "../../components/page-header";

const TABS = [
  { path: "/account", label: "Profile and security", permission: "use_account" },
  { path: "/account/team", label: "Team", permission: "manage_users" },
  { path: "/account/single-sign-on", label: "Single sign-on", permission: "manage_single_sign_on" },
  { path: "/account/audit-log", label: "Audit log", permission: "read_audit_log" },
] as const;

/** The account pages as tabs. */
export function AccountFrame({ children }: { children: ReactNode }) {
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const session = useSession();
  return (
    <>
      <PageHeader
        title="Account"
        description="Your profile, password and sessions, your team, and the audit log."
      />
      <Tabs value={pathname} onChange={(path) => path && navigate(path)} activateTabWithKeyboard={false}>
        <Tabs.List aria-label="Account" mb="lg">
          {TABS.filter((tab) => may(session, tab.permission)).map((tab) => (
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

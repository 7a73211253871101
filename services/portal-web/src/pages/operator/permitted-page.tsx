import { IconLock } from "@tabler/icons-react";
import { Outlet, useLocation } from "react-router-dom";
import { may } from "../../api/operator-session";
import type { OperatorSession } from "../../api/types";
import { EmptyState } from "../../components/empty-state";
import { PageHeader } from "../../components/page-header";
import { permissionOfPage } from "./console-pages";
import { OPERATOR_ROLE_LABELS } from "./operator-roles";

/** The page, or the reason why the person's role does not have it. */
export function PermittedPage({ session }: { session: OperatorSession }) {
  const permission = permissionOfPage(useLocation().pathname);
  if (!permission || may(session, permission)) return <Outlet />;
  return (
    <>
      <PageHeader title="No access" />
      <EmptyState icon={<IconLock size={26} />} title="Your role does not include this page.">
        You are logged in as {OPERATOR_ROLE_LABELS[session.role].toLowerCase()}. Ask an administrator of your
        company for another role.
      </EmptyState>
    </>
  );
}

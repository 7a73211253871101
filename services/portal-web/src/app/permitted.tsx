import { Outlet, useLocation } from "react-router-dom";
import { PageHeader } from "../components/page-header";
import { permissionOf } from "./navigation";
import { NotForRole } from "./not-for-role";
import { may, useSession } from "./session";

/** The page, or the reason why the user's role does not have it. */
export function Permitted() {
  const session = useSession();
  const permission = permissionOf(useLocation().pathname);
  if (!permission || may(session, permission)) return <Outlet />;
  return (
    <>
      <PageHeader title="No access" />
      <NotForRole what="Your role does not include this page." />
    </>
  );
}

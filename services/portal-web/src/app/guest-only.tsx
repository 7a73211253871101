import { Navigate, Outlet, useSearchParams } from "react-router-dom";
import { useSessionQuery } from "../api/session";

/** Redirects logged-in users to the page that they requested. */
export function GuestOnly() {
  const { data: session } = useSessionQuery();
  const [search] = useSearchParams();
  if (session) return <Navigate to={ownPath(search.get("next"))} replace />;
  return <Outlet />;
}

/** Only paths of this portal, to prevent open redirects. */
function ownPath(next: string | null): string {
  if (!next?.startsWith("/") || next.startsWith("//") || next.includes("\\")) return "/";
  return next;
}

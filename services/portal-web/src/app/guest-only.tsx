import { Navigate, Outlet, useSearchParams } from "react-router-dom";
import { useSessionQuery } from "../api/session";

/** Whoever is logged in, or just did so, goes on to where they wanted to. */
export function GuestOnly() {
  const { data: session } = useSessionQuery();
  const [search] = useSearchParams();
  if (session) return <Navigate to={ownPath(search.get("next"))} replace />;
  return <Outlet />;
}

/** Only a path of this portal: a link must not lead from our log-in to somebody else's page. */
function ownPath(next: string | null): string {
  if (!next?.startsWith("/") || next.startsWith("//") || next.includes("\\")) return "/";
  return next;
}

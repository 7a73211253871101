import { Navigate, Outlet, useLocation } from "react-router-dom";
import { useConfig } from "../api/config";
import type { PortalPart } from "../api/types";
import { NotFound } from "./not-found";
import shell from "./shell.module.css";

/** The pages of one part of the portal. The operator may serve the console at another address. */
export function Part({ of }: { of: PortalPart }) {
  const { parts } = useConfig();
  const { pathname } = useLocation();
  if (parts.includes(of)) return <Outlet />;
  if (of === "portal" && pathname === "/") return <Navigate to="/operator" replace />;
  const home =
    of === "portal"
      ? { home: "/operator/businesses", homeLabel: "Go to the businesses" }
      : { home: "/", homeLabel: "Go to the overview" };
  return (
    <main className={shell.alone}>
      <NotFound {...home} />
    </main>
  );
}

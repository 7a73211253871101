import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { checkSession } from "../api/session";
import { useSession } from "./session";

/** Whether the operator has suspended the business. */
export function useIsSuspended(): boolean {
  const { businessId, memberships } = useSession();
  const client = useQueryClient();
  // A session that was just opened does not list them yet.
  useEffect(() => {
    if (!memberships) checkSession(client);
  }, [client, memberships]);
  return memberships?.find((one) => one.businessId === businessId)?.status === "suspended";
}

import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { checkSession } from "../api/session";
import { useSession } from "./session";

/** The present business, as the list of the session has it. */
function useMembership() {
  const { businessId, memberships } = useSession();
  const client = useQueryClient();
  // A session that was just opened does not list them yet.
  useEffect(() => {
    if (!memberships) checkSession(client);
  }, [client, memberships]);
  return memberships?.find((one) => one.businessId === businessId);
}

/** Whether the operator has suspended the business. */
export function useIsSuspended(): boolean {
  return useMembership()?.status === "suspended";
}

/** Whether the closing of the business has begun, or is completed. */
export function useIsClosing(): boolean {
  return useMembership()?.closing === true;
}

/** Whether the closing of the business is completed. */
export function useIsClosed(): boolean {
  return useMembership()?.closed === true;
}

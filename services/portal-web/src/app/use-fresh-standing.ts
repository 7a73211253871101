import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { checkSession } from "../api/session";
import type { Status } from "../api/types";
import { useSession } from "./session";

/** Reads the session again when the status shows that the operator has approved or suspended the business since. */
export function useFreshStanding(status: Status | undefined) {
  const client = useQueryClient();
  const { businessId, memberships } = useSession();
  const known = memberships?.find((one) => one.businessId === businessId)?.status;
  const isActive = status?.goLive.items.find(({ code }) => code === "business_active")?.done;
  const isStale = known !== undefined && isActive !== undefined && (known === "active") !== isActive;
  useEffect(() => {
    if (isStale) checkSession(client);
  }, [client, isStale]);
}

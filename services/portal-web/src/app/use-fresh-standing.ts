import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { checkSession } from "../api/session";
import type { Status } from "../api/types";
import { useSession } from "./session";

/** Reads the session again once the status shows an approval, a suspension or a closing since. */
export function useFreshStanding(status: Status | undefined) {
  const client = useQueryClient();
  const { businessId, memberships } = useSession();
  const known = memberships?.find((one) => one.businessId === businessId);
  const isActive = status?.goLive.items.find(({ code }) => code === "business_active")?.done;
  const isStale =
    known !== undefined &&
    isActive !== undefined &&
    ((known.status === "active") !== isActive || (known.closing ?? false) !== (status?.closing ?? false));
  useEffect(() => {
    if (isStale) checkSession(client);
  }, [client, isStale]);
}

import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { checkSession } from "../api/session";
import type { Status } from "../api/types";
import { useSession } from "./session";

/** Reads the session again when the status shows that the operator has approved or suspended the business since, or somebody closes it. */
export function useFreshStanding(status: Status | undefined) {
  const client = useQueryClient();
  const { businessId, memberships } = useSession();
  const known = memberships?.find((one) => one.businessId === businessId);
  const isActive = status?.goLive.items.find(({ code }) => code === "business_active")?.done;
  const isStale =
    known !== undefined &&
    isActive !== undefined &&
    ((known.status === "active") !== isActive || known.closing !== status?.closing);
  useEffect(() => {
    if (isStale) checkSession(client);
  }, [client, isStale]);
}

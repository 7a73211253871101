import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { apiKeysKey } from "./api-keys";
import { answer, api } from "./client";
import { useEventStream } from "./event-stream";
import { refetchQuery } from "./refetch";
import type { Status } from "./types";

export const statusKey = ["status"] as const;

/** Polling interval while a service's data is missing. */
const POLL_INCOMPLETE_MS = 10_000;
const POLL_WITHOUT_STREAM_MS = 5_000;
/** With an open stream, polling only makes up for lost events. */
const POLL_WITH_STREAM_MS = 60_000;

export function useStatus(pollMs: number | false = false, enabled = true) {
  return useQuery({
    enabled,
    queryKey: statusKey,
    queryFn: () => answer(api.GET("/v1/portal/status")),
    refetchInterval: ({ state }) => (missingServices(state.data).length > 0 ? POLL_INCOMPLETE_MS : pollMs),
  });
}

/** Services that did not respond in time. Their values are `null` or “Unknown”. */
export function missingServices(status: Status | undefined): string[] {
  return status?.incomplete ?? [];
}

/** The live status: updated by the event stream, or by polling without one. */
export function useLiveStatus() {
  const client = useQueryClient();
  const reload = useCallback(() => {
    void refetchQuery(client, statusKey);
    void refetchQuery(client, apiKeysKey);
  }, [client]);
  const isStreaming = useEventStream("/v1/portal/status/stream", "changed", reload);
  const query = useStatus(isStreaming ? POLL_WITH_STREAM_MS : POLL_WITHOUT_STREAM_MS);
  return { ...query, isStreaming };
}

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { apiKeysKey } from "./api-keys";
import { answer, api } from "./client";
import { useEventStream } from "./event-stream";
import { reread } from "./reread";
import type { Status } from "./types";

export const statusKey = ["status"] as const;

/** While a service does not answer: it may at any moment. */
const POLL_INCOMPLETE_MS = 10_000;
const POLL_ALONE_MS = 5_000;
/** Beside the stream, in case that a change was announced by nobody. */
const POLL_BESIDE_STREAM_MS = 60_000;

export function useStatus(pollMs: number | false = false) {
  return useQuery({
    queryKey: statusKey,
    queryFn: () => answer(api.GET("/v1/portal/status")),
    refetchInterval: ({ state }) => (silentServices(state.data).length > 0 ? POLL_INCOMPLETE_MS : pollMs),
  });
}

/** The services that did not answer in time: what they would say is `null` or “Unknown”. */
export function silentServices(status: Status | undefined): string[] {
  return status?.incomplete ?? [];
}

/** The status as it moves: by the server's events, and by asking now and then where they do not come through. */
export function useLiveStatus() {
  const client = useQueryClient();
  const reload = useCallback(() => {
    void reread(client, statusKey);
    void reread(client, apiKeysKey);
  }, [client]);
  const isStreaming = useEventStream("/v1/portal/status/stream", "changed", reload);
  const query = useStatus(isStreaming ? POLL_BESIDE_STREAM_MS : POLL_ALONE_MS);
  return { ...query, isStreaming };
}

import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect } from "react";
import { useEventStream } from "./event-stream";

/** How often it is asked where the server's events do not come through. */
const POLL_ALONE_MS = 15_000;

/** Reads these again when something of the business changes, wherever it was changed. `keys` must stay the same. */
export function useReloadOnChange(keys: readonly QueryKey[]) {
  const client = useQueryClient();
  const reload = useCallback(() => {
    for (const queryKey of keys) client.invalidateQueries({ queryKey });
  }, [client, keys]);
  const isStreaming = useEventStream("/v1/portal/status/stream", "changed", reload);
  useEffect(() => {
    if (isStreaming) return;
    const timer = window.setInterval(() => !document.hidden && reload(), POLL_ALONE_MS);
    return () => window.clearInterval(timer);
  }, [isStreaming, reload]);
}

import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef } from "react";
import { useEventStream } from "./event-stream";
import { refetchQuery } from "./refetch";

/** Polling interval while the event stream is down. */
const POLL_WITHOUT_STREAM_MS = 15_000;
/** Limits reloads when changes come fast. */
const RELOAD_PAUSE_MS = 2_000;

/** Refetches these queries when any data of the business changes. `keys` must keep its identity between renders. */
export function useReloadOnChange(keys: readonly QueryKey[]) {
  const client = useQueryClient();
  const timer = useRef<number | undefined>(undefined);
  const reloadSoon = useCallback(() => {
    timer.current ??= window.setTimeout(() => {
      timer.current = undefined;
      for (const queryKey of keys) void refetchQuery(client, queryKey);
    }, RELOAD_PAUSE_MS);
  }, [client, keys]);
  useEffect(
    () => () => {
      window.clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  const isStreaming = useEventStream("/v1/portal/status/stream", "changed", reloadSoon);
  useEffect(() => {
    if (isStreaming) return;
    const poll = window.setInterval(() => !document.hidden && reloadSoon(), POLL_WITHOUT_STREAM_MS);
    return () => window.clearInterval(poll);
  }, [isStreaming, reloadSoon]);
}

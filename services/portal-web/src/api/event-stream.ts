import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { checkSession, sessionKey } from "./session";
import { SharedStream } from "./shared-stream";
import type { Session } from "./types";

/** One stream per URL and user, shared by all components that subscribe to it. */
const streams = new Map<string, SharedStream>();

/**
 * Subscribes to server-sent events of one kind while the component is mounted. Returns whether the stream is open.
 *
 * The server closes a stream when its session ends, so each lost connection triggers a session check. When the stream
 * opens again, or so late that reads did not wait for it, `onEvent` receives `null`: events may have been missed.
 */
export function useEventStream(url: string, event: string, onEvent: (data: string | null) => void): boolean {
  const client = useQueryClient();
  const [isOpen, setIsOpen] = useState(false);
  const handler = useRef(onEvent);
  useEffect(() => {
    handler.current = onEvent;
  }, [onEvent]);
  useEffect(() => {
    const subscriber = {
      event,
      onEvent: (data: string | null) => handler.current(data),
      onOpenChange: setIsOpen,
      onBreak: () => checkSession(client),
    };
    const user = client.getQueryData<Session | null>(sessionKey)?.userId ?? "";
    const unsubscribe = streamOf(url, user).subscribe(subscriber);
    return () => {
      unsubscribe();
      setIsOpen(false);
    };
  }, [client, url, event]);
  return isOpen;
}

/** Named by user: tabs of different users never share a stream. */
function streamOf(url: string, user: string): SharedStream {
  const name = `${url} ${user}`;
  const known = streams.get(name);
  if (known) return known;
  const opened = new SharedStream(url, name, () => streams.delete(name));
  streams.set(name, opened);
  return opened;
}

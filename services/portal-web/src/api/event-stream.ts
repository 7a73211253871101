import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { checkSession, sessionKey } from "./session";
import { SharedStream } from "./shared-stream";
import type { Session } from "./types";

/** One per address and user, however many parts of a page follow it. */
const streams = new Map<string, SharedStream>();

/**
 * Follows server-sent events of one kind while the page is shown; tells whether the stream is open.
 *
 * A stream ends with the session that it was opened in: whether that has ended is asked at each break.
 * `onEvent` is also called when a stream comes back, with `null`: what happened meanwhile was not heard.
 */
export function useEventStream(url: string, event: string, onEvent: (data: string | null) => void): boolean {
  const client = useQueryClient();
  const [isOpen, setIsOpen] = useState(false);
  const handler = useRef(onEvent);
  useEffect(() => {
    handler.current = onEvent;
  }, [onEvent]);
  useEffect(() => {
    const follow = {
      event,
      onEvent: (data: string | null) => handler.current(data),
      onOpenChange: setIsOpen,
      onBreak: () => checkSession(client),
    };
    const user = client.getQueryData<Session | null>(sessionKey)?.userId ?? "";
    const stop = streamOf(url, user).follow(follow);
    return () => {
      stop();
      setIsOpen(false);
    };
  }, [client, url, event]);
  return isOpen;
}

/** A tab in which somebody else is logged in by now hears nothing of this user's. */
function streamOf(url: string, user: string): SharedStream {
  const name = `${url} ${user}`;
  const known = streams.get(name);
  if (known) return known;
  const opened = new SharedStream(url, name, () => streams.delete(name));
  streams.set(name, opened);
  return opened;
}

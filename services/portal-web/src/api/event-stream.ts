import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { checkSession } from "./session";
import { SharedStream } from "./shared-stream";

/** One stream per address, however many parts of a page follow it: browsers allow few connections to one host. */
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
    const stop = streamOf(url).follow(follow);
    return () => {
      stop();
      setIsOpen(false);
    };
  }, [client, url, event]);
  return isOpen;
}

function streamOf(url: string): SharedStream {
  const known = streams.get(url);
  if (known) return known;
  const opened = new SharedStream(url, () => streams.delete(url));
  streams.set(url, opened);
  return opened;
}

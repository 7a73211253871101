import { useEffect, useRef, useState } from "react";
import { SharedStream } from "./shared-stream";

/** One stream per address, however many parts of a page follow it: browsers allow few connections to one host. */
const streams = new Map<string, SharedStream>();

/**
 * Follows server-sent events of one kind while the page is shown; tells whether the stream is open.
 *
 * `onEvent` is also called when a stream comes back, with `null`: what happened meanwhile was not heard.
 */
export function useEventStream(url: string, event: string, onEvent: (data: string | null) => void): boolean {
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
    };
    const stop = streamOf(url).follow(follow);
    return () => {
      stop();
      setIsOpen(false);
    };
  }, [url, event]);
  return isOpen;
}

function streamOf(url: string): SharedStream {
  const known = streams.get(url);
  if (known) return known;
  const opened = new SharedStream(url, () => streams.delete(url));
  streams.set(url, opened);
  return opened;
}

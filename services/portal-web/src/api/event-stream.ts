import { useEffect, useRef, useState } from "react";

const RECONNECT_FIRST_MS = 2_000;
const RECONNECT_MAX_MS = 60_000;

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
    let source: EventSource | null = null;
    let timer: number | undefined;
    let wait = RECONNECT_FIRST_MS;
    let wasOpen = false;

    function connect() {
      source = new EventSource(url);
      source.addEventListener("open", () => {
        wait = RECONNECT_FIRST_MS;
        setIsOpen(true);
        if (wasOpen) handler.current(null);
        wasOpen = true;
      });
      source.addEventListener(event, (message) => handler.current((message as MessageEvent<string>).data));
      source.addEventListener("reload", () => handler.current(null));
      source.addEventListener("error", () => {
        setIsOpen(false);
        // A browser tries again by itself after a break, but not after a refusal.
        if (source?.readyState === EventSource.CLOSED) {
          timer = window.setTimeout(connect, wait);
          wait = Math.min(wait * 2, RECONNECT_MAX_MS);
        }
      });
    }

    connect();
    return () => {
      window.clearTimeout(timer);
      source?.close();
      setIsOpen(false);
    };
  }, [url, event]);

  return isOpen;
}

import { useEffect, useRef } from "react";
import { useLocation } from "react-router-dom";

/** Moves the focus to the new page after a navigation, as a full page load does. */
export function useFocusOnArrival(onArrival?: () => void) {
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  const shown = useRef(pathname);
  useEffect(() => {
    if (shown.current === pathname) return;
    shown.current = pathname;
    onArrival?.();
    main.current?.focus({ preventScroll: true });
  }, [pathname, onArrival]);
  return main;
}

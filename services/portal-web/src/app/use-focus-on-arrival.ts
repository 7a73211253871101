import { useEffect, useRef } from "react";
import { useLocation } from "react-router-dom";

/** After a link was followed, keyboard and screen reader begin at the new page, as they would after a full load. */
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

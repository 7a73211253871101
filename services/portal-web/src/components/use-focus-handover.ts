import { type RefObject, useLayoutEffect, useRef } from "react";

/**
 * For a part of the page that may disappear while it has the focus, such as a row with its buttons: the focus goes to the heading
 * of its section, or of the page. Browsers would drop it. In a dialog it stays there; a closing dialog returns it itself.
 */
export function useFocusHandover<Part extends HTMLElement>(): RefObject<Part | null> {
  const ref = useRef<Part>(null);
  useLayoutEffect(() => {
    const part = ref.current;
    const successor = successorOf(part);
    const { pathname } = window.location;
    // React runs this before it removes the part.
    return () => {
      if (!part?.contains(document.activeElement)) return;
      // What appears instead may take the focus, as a new page does.
      window.setTimeout(() => {
        const active = document.activeElement;
        if (window.location.pathname !== pathname || (active && active !== document.body)) return;
        successor()?.focus({ preventScroll: true });
      });
    };
  }, []);
  return ref;
}

/** What gets the focus after this part, also if the part has disappeared by then. */
export function successorOf(part: Element | null): () => HTMLElement | null {
  const dialog = part?.closest<HTMLElement>("[role=dialog]");
  const section = sectionOf(part);
  return () => (dialog ? startOf(dialog) : headingOf(section));
}

/** Where a step of a dialog begins. */
function startOf(dialog: HTMLElement): HTMLElement | null {
  if (!dialog.isConnected) return null;
  return dialog.querySelector<HTMLElement>("[data-autofocus]") ?? dialog;
}

export function sectionOf(element: Element | null): Element | null {
  return element?.closest("section[aria-labelledby]") ?? null;
}

/** The heading of the section, or of the page if the section has disappeared too. */
export function headingOf(section: Element | null): HTMLElement | null {
  const ofSection = section?.isConnected ? section.querySelector<HTMLElement>("h2") : null;
  const heading = ofSection ?? document.querySelector<HTMLElement>("main h1");
  if (heading) heading.tabIndex = -1;
  return heading;
}

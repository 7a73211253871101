import { Modal, type ModalProps } from "@mantine/core";
import { useLayoutEffect } from "react";
import { headingOf, sectionOf } from "./use-focus-handover";

/** The control that opened the first dialog, and its section. */
let home: { opener: HTMLElement | null; section: Element | null } = { opener: null, section: null };
/** A dialog may open another one. */
let open = 0;

/**
 * A modal dialog. Afterwards the focus is at the control that opened it, or at the heading of its section if the control has
 * disappeared.
 */
export function Dialog(props: ModalProps) {
  const { opened } = props;
  useLayoutEffect(() => {
    if (!opened) return;
    open += 1;
    rememberHome();
    return () => {
      open -= 1;
      // The next dialog may open now.
      window.setTimeout(goHome);
    };
  }, [opened]);
  return <Modal {...props} />;
}

function rememberHome() {
  const active = document.activeElement;
  if (!(active instanceof HTMLElement) || active.closest("[role=dialog]")) return;
  const menu = active.closest("[role=menu]");
  const opener = menu ? document.querySelector<HTMLElement>(`[aria-controls="${menu.id}"]`) : active;
  home = { opener, section: sectionOf(opener) };
}

function goHome() {
  const active = document.activeElement;
  // A closing dialog holds the focus while it fades out.
  const isLost = !active || active === document.body || active.closest("[role=dialog]");
  if (open > 0 || !isLost) return;
  const { opener, section } = home;
  const isUsable = opener?.isConnected && opener !== document.body && !opener.matches(":disabled");
  (isUsable ? opener : headingOf(section))?.focus({ preventScroll: true });
}

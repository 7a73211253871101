import { Modal, type ModalProps } from "@mantine/core";
import { type ReactNode, useLayoutEffect } from "react";
import { countDialog, openDialogs } from "./open-dialogs";
import { headingOf, sectionOf, useFocusHandover } from "./use-focus-handover";

interface Home {
  opener: HTMLElement | null;
  section: Element | null;
  pathname: string;
}

/** The control that opened the first dialog, its section and its page. */
let home: Home = { opener: null, section: null, pathname: "" };
let closing: number | undefined;

/**
 * A modal dialog. Afterwards the focus is at the control that opened it, or at the heading of its section if the control has
 * disappeared.
 */
export function Dialog(props: ModalProps) {
  const { opened } = props;
  useLayoutEffect(() => {
    if (!opened) return;
    countDialog(1);
    rememberHome();
    return () => {
      countDialog(-1);
      window.clearTimeout(closing);
      closing = window.setTimeout(goHome);
    };
  }, [opened]);
  return <Modal {...props} />;
}

/** One of several steps in a dialog. With a `key` of its own, the next step gets the focus. */
export function DialogStep({ children }: { children: ReactNode }) {
  return <div ref={useFocusHandover<HTMLDivElement>()}>{children}</div>;
}

function rememberHome() {
  if (openDialogs() > 1 || closing !== undefined) return;
  const active = document.activeElement as HTMLElement | null;
  const menu = active?.closest("[role=menu]");
  const opener = menu ? document.querySelector<HTMLElement>(`[aria-controls="${menu.id}"]`) : active;
  home = { opener, section: sectionOf(opener), pathname: window.location.pathname };
}

function goHome() {
  closing = undefined;
  const active = document.activeElement;
  // A closing dialog holds the focus while it fades out.
  const isLost = !active || active === document.body || active.closest("[role=dialog]");
  const { opener, section, pathname } = home;
  // A new page takes the focus itself.
  if (openDialogs() > 0 || !isLost || window.location.pathname !== pathname) return;
  const isUsable = opener?.isConnected && opener !== document.body && !opener.matches(":disabled");
  (isUsable ? opener : headingOf(section))?.focus({ preventScroll: true });
}

import { useEffect } from "react";

/** Rows and buttons disappear one after the other. */
const SETTLE_MS = 100;
const DIALOG = "[role=dialog], [role=menu], [role=listbox]";

/**
 * Browsers drop the focus if its element disappears, such as the button of a removed row or of a closed dialog. Then it moves
 * to the control that opened the dialog, or else to the heading of the section, or of the page.
 */
export function useKeptFocus() {
  useEffect(() => {
    const kept = new KeptFocus();
    document.addEventListener("focusin", kept.note);
    document.addEventListener("focusout", kept.forgetIfLeft);
    const observer = new MutationObserver(kept.checkSoon);
    observer.observe(document.body, {
      childList: true,
      subtree: true,
      attributes: true,
      attributeFilter: ["disabled"],
    });
    return () => {
      document.removeEventListener("focusin", kept.note);
      document.removeEventListener("focusout", kept.forgetIfLeft);
      observer.disconnect();
      kept.stop();
    };
  }, []);
}

class KeptFocus {
  /** The last focused element. */
  private last: HTMLElement | null = null;
  /** The last one outside of dialogs, and its section. */
  private opener: HTMLElement | null = null;
  private section: HTMLElement | null = null;
  private path = "";
  private timer: number | undefined;

  note = ({ target }: FocusEvent) => {
    if (!(target instanceof HTMLElement)) return;
    this.last = target;
    this.path = window.location.pathname;
    if (target.closest(DIALOG)) return;
    this.opener = target;
    this.section = target.closest("section[aria-labelledby]");
  };

  /** A click next to all controls takes the focus away on purpose. */
  forgetIfLeft = ({ target, relatedTarget }: FocusEvent) => {
    if (relatedTarget) return;
    // Removed and disabled elements lose the focus too.
    window.setTimeout(() => {
      if (target === this.last && target instanceof HTMLElement && canFocus(target)) this.last = null;
    });
  };

  checkSoon = () => {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(this.check, SETTLE_MS);
  };

  stop() {
    window.clearTimeout(this.timer);
  }

  private check = () => {
    const isLost = document.activeElement === document.body || document.activeElement === null;
    if (!isLost || !this.last || document.querySelector("[role=dialog]")) return;
    // A new page gets the focus in other ways.
    if (window.location.pathname !== this.path) return;
    // It waits for its call, and is focused again afterwards.
    if (this.last.isConnected && !canFocus(this.last)) return;
    const target = [this.last, this.opener].find((one) => one && canFocus(one)) ?? this.heading();
    if (target && !target.hasAttribute("tabindex") && isHeading(target)) target.tabIndex = -1;
    target?.focus({ preventScroll: true });
  };

  private heading(): HTMLElement | null {
    const ofSection = this.section?.isConnected ? this.section.querySelector<HTMLElement>("h2") : null;
    return ofSection ?? document.querySelector<HTMLElement>("main h1");
  }
}

function canFocus(element: HTMLElement): boolean {
  return element.isConnected && !element.matches(":disabled, [data-disabled]");
}

function isHeading(element: HTMLElement): boolean {
  return /^H[1-6]$/.test(element.tagName);
}

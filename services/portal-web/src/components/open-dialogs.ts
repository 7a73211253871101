import { useSyncExternalStore } from "react";

// How many dialogs are open: one may open another one, on top of it or in its place.
const listeners = new Set<() => void>();
let open = 0;

/** Counts a dialog that has opened, or closed. */
export function countDialog(by: 1 | -1) {
  open += by;
  for (const each of listeners) each();
}

export function openDialogs(): number {
  return open;
}

/** Whether a dialog is open. */
export function useHasDialog(): boolean {
  return useSyncExternalStore(subscribe, () => open > 0);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

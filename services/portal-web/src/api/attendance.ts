// Whether somebody uses the page. Pages refresh themselves, which must not keep the session of an abandoned page open.

/** Without any input for this long, a page counts as abandoned. */
const ATTENDED_MS = 60_000;
const INPUTS = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"];

let lastInput = Date.now();

for (const input of INPUTS) {
  window.addEventListener(input, () => (lastInput = Date.now()), { capture: true, passive: true });
}

/** Marks a call that the page sends by itself. The service does not count it as a use of the session. */
export function markUnattended(request: Request): void {
  if (Date.now() - lastInput > ATTENDED_MS) request.headers.set("Unattended", "true");
}

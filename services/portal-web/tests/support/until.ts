const TIMEOUT_MS = 30_000;
const RETRY_MS = 50;

/** Waits until `look` finds something. */
export async function until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  const end = Date.now() + TIMEOUT_MS;
  while (Date.now() < end) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise((go) => setTimeout(go, RETRY_MS));
  }
  throw new Error(`waited ${TIMEOUT_MS / 1000} s until ${what}`);
}

// Reads wait for the streams that are being opened. A read before that could miss a change, and had to be repeated.

/** A read does not wait longer for a stream. */
const WAIT_MAX_MS = 300;

const holds = new Set<Promise<void>>();

/** Resolves when no stream is being opened. The components of a page subscribe in the same task as they read. */
export async function readsReleased(): Promise<void> {
  await Promise.resolve();
  await Promise.all(holds);
}

/** Holds reads for a stream. The function that releases them returns whether they still waited. */
export function holdReads(): () => boolean {
  let isHeld = true;
  let release = () => {};
  const hold = new Promise<void>((resolve) => {
    release = () => {
      isHeld = false;
      holds.delete(hold);
      resolve();
    };
  });
  holds.add(hold);
  const timer = window.setTimeout(() => release(), WAIT_MAX_MS);
  return () => {
    const hasWaited = isHeld;
    window.clearTimeout(timer);
    release();
    return hasWaited;
  };
}

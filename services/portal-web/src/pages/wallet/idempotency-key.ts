/** Random, and made without `crypto.randomUUID`, which browsers keep from pages on plain http. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `portal-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Random. Does not use `crypto.randomUUID`, which browsers do not offer on plain http. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `portal-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

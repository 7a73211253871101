// Spellings of an order's id, tracking code or reference: the server finds exactly what it is asked for.

/** How a shop may have written what a person typed; first as typed. Some shops write `#1001`. */
export function spellings(text: string): string[] {
  const bare = text.replace(/^#+\s*/, "");
  if (bare === "") return [text];
  const [upper, lower] = [bare.toUpperCase(), bare.toLowerCase()];
  const capital = upper.charAt(0) + lower.slice(1);
  const ids = lower.startsWith("ord_") ? [`ord_${upper.slice(4)}`] : [];
  return [...new Set([text, ...ids, bare, upper, lower, capital, `#${bare}`])];
}

/** With one decimal, and 100 only if no part is missing. */
export function formatShare(part: number, whole: number): string {
  const rounded = Math.round((part * 1000) / whole) / 10;
  return `${part < whole ? Math.min(rounded, 99.9) : rounded} %`;
}

const CHARS_MAX = 56;

/** `https://shop.example/api/hook?key=1` as `shop.example/api/hook`; long URLs lose their middle. */
export function hostAndPath(url: string): string {
  const text = url.replace(/^https?:\/\//i, "").replace(/[?#].*$/, "");
  if (text.length <= CHARS_MAX) return text;
  const half = Math.floor((CHARS_MAX - 1) / 2);
  return `${text.slice(0, half)}…${text.slice(-half)}`;
}

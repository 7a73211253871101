const BROWSERS: [RegExp, string][] = [
  [/Edg\//, "Edge"],
  [/OPR\//, "Opera"],
  [/SamsungBrowser\//, "Samsung Internet"],
  [/Firefox\/|FxiOS\//, "Firefox"],
  [/Chrome\/|CriOS\//, "Chrome"],
  [/Safari\//, "Safari"],
];
const SYSTEMS: [RegExp, string][] = [
  [/iPhone|iPad/, "iOS"],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/Linux/, "Linux"],
];

/** `Chrome on Windows` from a User-Agent. Other programs are shown by their first word. */
export function browserName(userAgent: string | null | undefined): string {
  if (!userAgent) return "Unknown browser";
  const name = (list: [RegExp, string][]) => list.find(([pattern]) => pattern.test(userAgent))?.[1];
  const browser = name(BROWSERS);
  const system = name(SYSTEMS);
  if (!browser) return userAgent.split(/[\s/]/)[0] || "Unknown browser";
  return system ? `${browser} on ${system}` : browser;
}

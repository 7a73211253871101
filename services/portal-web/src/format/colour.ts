// Ten shades of the operator's accent colour, and their contrast with backgrounds.

type Rgb = [number, number, number];
export type Shades = [string, string, string, string, string, string, string, string, string, string];

const WHITE: Rgb = [255, 255, 255];
const BLACK: Rgb = [0, 0, 0];
/** The share of white in lighter shades and of black in darker ones. The accent is the seventh shade. */
const LIGHTER = [0.94, 0.86, 0.72, 0.56, 0.38, 0.18];
const DARKER = [0.14, 0.28, 0.42];
export const ACCENT_SHADE = 6;

export function shadesOf(accent: string): Shades {
  const colour = parse(accent);
  const lighter = LIGHTER.map((share) => hex(mix(colour, WHITE, share)));
  const darker = DARKER.map((share) => hex(mix(colour, BLACK, share)));
  return [...lighter, hex(colour), ...darker] as Shades;
}

/** The shade nearest to the accent that is readable on this background: contrast 4.5:1 (WCAG 2 AA). */
export function readableShade(shades: Shades, background: string, towards: "darker" | "lighter"): number {
  const step = towards === "darker" ? 1 : -1;
  for (let index = ACCENT_SHADE; index >= 0 && index <= 9; index += step) {
    if (contrast(shades[index] ?? "#000000", background) >= 4.6) return index;
  }
  return towards === "darker" ? 9 : 0;
}

export function contrast(a: string, b: string): number {
  const [lighter, darker] = [luminance(parse(a)), luminance(parse(b))].sort((x, y) => y - x) as [
    number,
    number,
  ];
  return (lighter + 0.05) / (darker + 0.05);
}

function parse(text: string): Rgb {
  const match = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text);
  if (!match) return [59, 91, 219];
  return match.slice(1, 4).map((part) => Number.parseInt(part, 16)) as Rgb;
}

function hex(colour: Rgb): string {
  return `#${colour.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
}

function mix(from: Rgb, to: Rgb, share: number): Rgb {
  return from.map((part, index) => part + ((to[index] ?? 0) - part) * share) as Rgb;
}

function luminance(colour: Rgb): number {
  const [r, g, b] = colour.map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// Labels and tones of states.
import type { Tone } from "../components/status-badge";

export interface Words {
  label: string;
  tone: Tone;
}

/** An unknown code is shown as it is, in a neutral tone. */
export function wordsOf(words: Record<string, Words>, code: string): Words {
  return words[code] ?? { label: code, tone: "idle" };
}

/** Options for a select field. */
export function choices(words: Record<string, Words>): { value: string; label: string }[] {
  return Object.entries(words).map(([value, { label }]) => ({ value, label }));
}

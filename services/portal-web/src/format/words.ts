// States in words: what each is called, and how it fares.
import type { Tone } from "../components/status-badge";

export interface Words {
  label: string;
  tone: Tone;
}

/** A code that is not known yet is shown as it is, without a judgement. */
export function wordsOf(words: Record<string, Words>, code: string): Words {
  return words[code] ?? { label: code, tone: "idle" };
}

/** All of them, for a field that chooses one. */
export function choices(words: Record<string, Words>): { value: string; label: string }[] {
  return Object.entries(words).map(([value, { label }]) => ({ value, label }));
}

// Labels and tones of states.
import type { Tone } from "../components/status-badge";

export interface StatusLabel {
  label: string;
  tone: Tone;
}

/** An unknown code is shown as it is, in a neutral tone. */
export function statusLabel(words: Record<string, StatusLabel>, code: string): StatusLabel {
  return words[code] ?? { label: code, tone: "idle" };
}

/** Options for a select field. */
export function choices(words: Record<string, StatusLabel>): { value: string; label: string }[] {
  return Object.entries(words).map(([value, { label }]) => ({ value, label }));
}

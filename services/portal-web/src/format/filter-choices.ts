import { type EventKind, eventLabel } from "./event-labels";

/** The choices of a filter by mode. */
export const MODES = [
  { value: "", label: "Live and test" },
  { value: "live", label: "Live" },
  { value: "test", label: "Test" },
];

/** The choices of a filter by kind of event. */
export function kindChoices(kinds: readonly EventKind[]) {
  return [
    { value: "", label: "Any event" },
    ...kinds.map((kind) => ({ value: kind, label: eventLabel(kind) })),
  ];
}

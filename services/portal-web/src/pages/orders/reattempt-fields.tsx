import { Stack, Textarea, TextInput } from "@mantine/core";
import type { Decision } from "../../api/after-failure";
import { formatDay } from "../../format/day";
import { reattemptDays } from "../../format/failure-labels";

const NOTE_CHARS_MAX = 1000;

interface ReattemptFieldsProps {
  decision: Decision;
  onChange: (decision: Decision) => void;
}

/** Fields for days let people type any. */
export function dayError({ date }: Decision): string | null {
  const { first, last } = reattemptDays(new Date());
  if (!date || (date >= first && date <= last)) return null;
  return `Choose a day from ${formatDay(first)} to ${formatDay(last)}.`;
}

/** The day and the note of another attempt. */
export function ReattemptFields({ decision, onChange }: ReattemptFieldsProps) {
  const { first, last } = reattemptDays(new Date());
  return (
    <Stack gap="sm">
      <TextInput
        type="date"
        label="Day"
        description="Optional. As soon as possible without one."
        min={first}
        max={last}
        value={decision.date ?? ""}
        error={dayError(decision)}
        onChange={(event) => onChange({ ...decision, date: event.currentTarget.value || undefined })}
      />
      <Textarea
        label="Note for the driver"
        description="Optional."
        autosize
        maxLength={NOTE_CHARS_MAX}
        value={decision.note ?? ""}
        onChange={(event) => onChange({ ...decision, note: event.currentTarget.value || undefined })}
      />
    </Stack>
  );
}

import { Stack, Textarea, TextInput } from "@mantine/core";
import type { Decision } from "../../api/after-failure";
import { reattemptDays } from "../../format/failure-labels";

const NOTE_CHARS_MAX = 1000;

interface ReattemptFieldsProps {
  decision: Decision;
  onChange: (decision: Decision) => void;
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

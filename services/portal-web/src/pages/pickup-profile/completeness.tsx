import { Progress, Stack, Text } from "@mantine/core";
import { REQUIRED_COUNT } from "./profile-values";

interface CompletenessProps {
  /** Labels of the empty required fields. */
  missing: string[];
  /** Whether the form has no unsaved changes. */
  isSaved: boolean;
}

/** The progress of the form. */
export function Completeness({ missing, isSaved }: CompletenessProps) {
  const done = REQUIRED_COUNT - missing.length;
  return (
    <Stack gap={6}>
      <Progress
        value={(100 * done) / REQUIRED_COUNT}
        size="sm"
        aria-label="Required fields filled in"
        color={missing.length === 0 ? "var(--tone-good)" : undefined}
      />
      <Text c="dimmed" aria-live="polite">
        {sentence(done, missing, isSaved)}
      </Text>
    </Stack>
  );
}

function sentence(done: number, missing: string[], isSaved: boolean): string {
  if (missing.length === 0) {
    return isSaved
      ? "Complete. Orders without their own pickup address use this one."
      : "All required fields are filled in. Save the profile.";
  }
  const names = new Intl.ListFormat("en", { type: "conjunction" }).format(missing);
  return `${done} of ${REQUIRED_COUNT} required fields filled in. Missing: ${names}.`;
}

import { Progress, Stack, Text } from "@mantine/core";
import { REQUIRED_COUNT } from "./profile-values";

interface CompletenessProps {
  /** The required fields that are empty, in words. */
  missing: string[];
  /** Whether what stands in the form is what is saved. */
  isSaved: boolean;
}

/** How much is left, as it is filled in. */
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
      ? "Complete. Orders that name no pickup place are fetched here."
      : "Nothing is missing. Save to make it count.";
  }
  const names = new Intl.ListFormat("en", { type: "conjunction" }).format(missing);
  return `${done} of ${REQUIRED_COUNT} required fields. Still missing: ${names}.`;
}

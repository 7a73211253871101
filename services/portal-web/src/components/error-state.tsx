import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { IconAlertCircle } from "@tabler/icons-react";
import { asFailure, isUncertain } from "../api/failure";
import { InlineCode } from "./code-block";
import { CopyButton } from "./copy-button";

interface ErrorStateProps {
  error: unknown;
  /** What failed: “The keys could not be loaded”. */
  title?: string;
  onRetry?: () => void;
}

/** An error: what failed, what to do, and the request id for support. */
export function ErrorState({ error, title = "This could not be loaded", onRetry }: ErrorStateProps) {
  const failure = asFailure(error);
  const heading = isUncertain(error) ? "The outcome is unknown" : title;
  return (
    <Alert role="alert" color="red" variant="light" icon={<IconAlertCircle aria-hidden />} title={heading}>
      <Stack gap="xs" align="flex-start">
        <Text>{failure.message}</Text>
        {failure.requestId && <RequestId id={failure.requestId} />}
        {onRetry && (
          <Button size="xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

export function RequestId({ id }: { id: string }) {
  return (
    <Group gap={6} c="dimmed" fz="xs" wrap="nowrap">
      <span>Request id</span>
      <InlineCode>{id}</InlineCode>
      <CopyButton value={id} label="Copy the request id" />
    </Group>
  );
}

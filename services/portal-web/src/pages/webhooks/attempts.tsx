import { Accordion, Group, Stack, Text } from "@mantine/core";
import { useMemo } from "react";
import type { Attempt } from "../../api/webhook-log";
import { CodeBlock } from "../../components/code-block";
import { Section } from "../../components/section";
import { StatusBadge } from "../../components/status-badge";
import { Time } from "../../components/time";
import { sentence } from "../../format/order-labels";
import { formatNumber } from "../../format/region";
import { failureAdvice } from "./failure-advice";
import { plural } from "./labels";

/** All attempts, newest first, with request and response. */
export function Attempts({ attempts, body }: { attempts: Attempt[]; body: string }) {
  const newestFirst = useMemo(() => [...attempts].sort((a, b) => b.number - a.number), [attempts]);
  return (
    <Section title="Attempts" description={plural(attempts.length, "attempt")} flush>
      {attempts.length === 0 ? (
        <Text c="dimmed" px="md" pb="md">
          No attempts yet.
        </Text>
      ) : (
        <Accordion multiple defaultValue={[String(newestFirst[0]?.number)]} chevronPosition="left" order={3}>
          {newestFirst.map((attempt) => (
            <Accordion.Item key={attempt.number} value={String(attempt.number)}>
              <Accordion.Control>
                <Summary attempt={attempt} />
              </Accordion.Control>
              <Accordion.Panel>
                <Exchange attempt={attempt} body={body} />
              </Accordion.Panel>
            </Accordion.Item>
          ))}
        </Accordion>
      )}
    </Section>
  );
}

function Summary({ attempt }: { attempt: Attempt }) {
  return (
    <Group component="span" gap="sm">
      <Text component="span" fw={500}>
        Attempt {attempt.number}
      </Text>
      <StatusBadge
        tone={attempt.succeeded ? "good" : "bad"}
        label={attempt.responseStatus ? `HTTP ${attempt.responseStatus}` : "No response"}
      />
      <Text component="span" c="dimmed" size="xs">
        <Time at={attempt.startedAt} />, {formatNumber(attempt.durationMs)} ms
      </Text>
    </Group>
  );
}

function Exchange({ attempt, body }: { attempt: Attempt; body: string }) {
  return (
    <Stack gap="sm">
      {attempt.error && (
        <Text>
          <Text component="span" fw={600}>
            {sentence(attempt.error)}.
          </Text>{" "}
          {failureAdvice(attempt.error)}
        </Text>
      )}
      <div>
        <Text size="xs" c="dimmed" mb={4}>
          Request
        </Text>
        <CodeBlock code={requestText(attempt, body)} label={`the request of attempt ${attempt.number}`} />
      </div>
      <div>
        <Text size="xs" c="dimmed" mb={4}>
          {attempt.responseStatus ? "Response (body up to 16 KiB)" : "Response"}
        </Text>
        {attempt.responseStatus ? (
          <CodeBlock code={responseText(attempt)} label={`the response to attempt ${attempt.number}`} />
        ) : (
          <Text c="dimmed">No response.</Text>
        )}
      </div>
    </Stack>
  );
}

function requestText(attempt: Attempt, body: string): string {
  const to = attempt.url ?? "(URL no longer known)";
  return `${attempt.method} ${to}\n${headerLines(attempt.requestHeaders)}\n\n${body}`;
}

function responseText(attempt: Attempt): string {
  const head = `HTTP ${attempt.responseStatus}\n${headerLines(attempt.responseHeaders)}`;
  return attempt.responseBody ? `${head}\n\n${attempt.responseBody}` : head;
}

function headerLines(headers: Record<string, unknown>): string {
  return Object.entries(headers)
    .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => `${name}: ${one}`))
    .join("\n");
}

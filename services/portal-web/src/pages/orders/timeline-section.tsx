import { Skeleton, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { useTimeline } from "../../api/orders";
import { ErrorState } from "../../components/error-state";
import { LoadMore } from "../../components/load-more";
import { Section } from "../../components/section";
import classes from "./timeline.module.css";

export type Timeline = ReturnType<typeof useTimeline>;

/** The services that a part of the timeline depends on, and their words. */
const OWNERS = { wallet: "payments", "webhook-dispatcher": "webhooks" };

interface TimelineSectionProps {
  title: string;
  description?: string;
  timeline: Timeline;
  /** The service, besides that of the orders, whose entries the section shows. */
  owner?: keyof typeof OWNERS;
  /** Said of a section without entries. */
  empty: string;
  /** List items; none without entries. */
  children: ReactNode[];
}

/** One kind of entries of an order's timeline. */
export function TimelineSection({
  title,
  description,
  timeline,
  owner,
  empty,
  children,
}: TimelineSectionProps) {
  const { isPending, error, missing, rows, refetch } = timeline;
  const isMissing = owner !== undefined && missing.includes(owner);
  return (
    <Section title={title} description={description} flush>
      {isPending && (
        <Stack p="md" aria-busy="true">
          {["one", "two", "three"].map((name) => (
            <Skeleton key={name} height={40} />
          ))}
        </Stack>
      )}
      {error && rows.length === 0 && (
        <div style={{ padding: 16 }}>
          <ErrorState error={error} onRetry={() => refetch()} />
        </div>
      )}
      {isMissing && (
        <Text c="dimmed" px="md" pb="xs" role="status">
          Temporarily unavailable: {OWNERS[owner]}.
        </Text>
      )}
      {children.length > 0 ? (
        <ol className={classes.timeline} aria-label={title} aria-live="polite" aria-relevant="additions">
          {children}
        </ol>
      ) : (
        timeline.data &&
        !isMissing && (
          <Text c="dimmed" px="md" pb="md">
            {empty}
          </Text>
        )
      )}
      <LoadMore list={timeline} />
    </Section>
  );
}

import { Alert, Anchor, Button, Group, Stack, Text, Title } from "@mantine/core";
import { IconDownload, IconPrinter } from "@tabler/icons-react";
import { type Evidence, type Order, type TimelineEntry, useEvidence } from "../../api/orders";
import { ErrorState } from "../../components/error-state";
import { Fact, Facts } from "../../components/facts";
import { MaskedNotice } from "../../components/masked-notice";
import { printSection } from "../../components/print-section";
import { Section } from "../../components/section";
import { Time } from "../../components/time";
import { eventLabel } from "../../format/event-labels";
import { failureReason } from "../../format/failure-labels";
import { sentence } from "../../format/order-labels";
import classes from "./evidence.module.css";
import { statusEntries } from "./order-timeline";

/** Where the evidence comes from: a user or the staff reads it. */
export interface EvidenceSource {
  useEvidence: typeof useEvidence;
  /** The file. */
  path: (id: string) => string;
  /** What to do about changed records. */
  advice: string;
}

const OWN: EvidenceSource = {
  useEvidence,
  path: (id) => `/v1/portal/orders/${id}/evidence`,
  advice: "Compare them with those that your webhooks carried, and ask your delivery company.",
};

interface OrderEvidenceProps {
  order: Order;
  entries: TimelineEntry[];
  source?: EvidenceSource;
}

/** What the fleet proved about each attempt, for disputes. */
export function OrderEvidence({ order, entries, source = OWN }: OrderEvidenceProps) {
  const ended = statusEntries(entries).filter(({ event }) => ENDS.includes(event)).length;
  const { data: evidence, error, refetch } = source.useEvidence(order.id, ended);
  if (error && ended > 0) {
    return (
      <Section title="Evidence">
        <ErrorState error={error} onRetry={() => refetch()} />
      </Section>
    );
  }
  if (!evidence || evidence.attempts.length === 0) return null;
  return (
    <Section title="Evidence" actions={<Actions path={source.path(order.id)} />}>
      <Stack>
        <Text className={classes.order}>
          Order {order.orderReference}, {order.id}
        </Text>
        <MaskedNotice isMasked={evidence.personalDataMasked}>
          Reasons, recipients, places and photos are hidden.
        </MaskedNotice>
        {evidence.intact ? (
          <Text c="dimmed" size="xs">
            The records are intact: the hashes of all attempts match.
          </Text>
        ) : (
          <Alert color="red" title="These records were changed">
            Their hashes do not match. {source.advice}
          </Alert>
        )}
        {evidence.attempts.map((attempt) => (
          <Attempt key={attempt.attempt} attempt={attempt} />
        ))}
      </Stack>
    </Section>
  );
}

const ENDS = ["order.delivered", "order.failed"];

function Actions({ path }: { path: string }) {
  return (
    <Group gap="xs">
      <Button
        component="a"
        href={path}
        download
        variant="default"
        size="xs"
        leftSection={<IconDownload size={14} aria-hidden />}
      >
        Download evidence
      </Button>
      <Button
        variant="default"
        size="xs"
        leftSection={<IconPrinter size={14} aria-hidden />}
        onClick={(event) => printSection(event.currentTarget)}
      >
        Print or save as PDF
      </Button>
    </Group>
  );
}

function Attempt({ attempt }: { attempt: Evidence["attempts"][number] }) {
  const { place, photo, reasonCode, reason, recipientName, recipientRelation } = attempt;
  const why = [reasonCode && failureReason(reasonCode), reason && sentence(reason)].filter(Boolean);
  const who = [recipientName, recipientRelation && sentence(recipientRelation)].filter(Boolean);
  return (
    <article aria-label={`Attempt ${attempt.attempt}`}>
      <Title order={3} size="sm" mb={6}>
        Attempt {attempt.attempt}: {eventLabel(attempt.event)}
      </Title>
      <Facts>
        <Fact name="Fleet’s clock">
          <Time at={attempt.occurredAt} />
        </Fact>
        <Fact name="Recorded">
          <Time at={attempt.recordedAt} />
        </Fact>
        <Fact name="Reason">{why.join(": ")}</Fact>
        <Fact name="Recipient">{who.join(", ")}</Fact>
        <Fact name="Delivery code">{codeInWords(attempt.codeVerified)}</Fact>
        <Fact name="Place">{place && <Place {...place} />}</Fact>
        <Fact name="Evidence taken">{attempt.capturedAt && <Time at={attempt.capturedAt} />}</Fact>
        <Fact name="Photo">
          {photo && (
            <Anchor href={photo.url} target="_blank" rel="noreferrer" inherit className={classes.photo}>
              Open the photo
            </Anchor>
          )}
        </Fact>
      </Facts>
      <Text size="xs" c="dimmed" mt={6} className={classes.hash}>
        SHA-256 of the record: {attempt.hash}
      </Text>
    </article>
  );
}

/** About a metre, which is more than phones know. */
const DEGREE_DIGITS = 5;

/** A map gets the place only when somebody follows the link. */
function Place(place: { latitude: number; longitude: number }) {
  const rounded = (degrees: number) => Number(degrees.toFixed(DEGREE_DIGITS));
  const [latitude, longitude] = [rounded(place.latitude), rounded(place.longitude)];
  return (
    <Anchor
      href={`https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=18/${latitude}/${longitude}`}
      target="_blank"
      rel="noreferrer"
      inherit
    >
      {latitude}, {longitude}
    </Anchor>
  );
}

function codeInWords(verified: boolean | null | undefined) {
  if (verified === true) return "The driver had the customer’s code";
  return verified === false && "Issued, but the driver did not have it";
}

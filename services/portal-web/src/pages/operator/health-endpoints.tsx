import { Text } from "@mantine/core";
import type { BusinessHealth } from "../../api/operator-businesses";
import { type Column, DataTable } from "../../components/data-table";
import { EmptyState } from "../../components/empty-state";
import { Section } from "../../components/section";
import { StatusBadge, type Tone } from "../../components/status-badge";
import { Time } from "../../components/time";
import { sentence } from "../../format/order-labels";

type Endpoint = NonNullable<BusinessHealth["endpoints"]>[number];

const TONES: Record<string, Tone> = { active: "good", failing: "warn", paused: "warn", disabled: "bad" };

const COLUMNS: Column<Endpoint>[] = [
  {
    key: "url",
    header: "URL",
    lead: true,
    render: ({ url, modes }) => (
      <div style={{ overflowWrap: "anywhere" }}>
        <Text fw={500}>{url}</Text>
        <Text size="xs" c="dimmed">
          {modes.join(" and ")}
        </Text>
      </div>
    ),
  },
  {
    key: "status",
    header: "Status",
    width: "16%",
    render: ({ status }) => <StatusBadge tone={TONES[status] ?? "idle"} label={sentence(status)} />,
  },
  {
    key: "last",
    header: "Last delivery",
    width: "20%",
    render: ({ lastDelivery }) => (lastDelivery.at ? <Time at={lastDelivery.at} relative /> : "Never"),
  },
  {
    key: "held",
    header: "Held",
    width: "12%",
    align: "end",
    render: ({ parkedDeliveries }) => parkedDeliveries,
  },
];

export function HealthEndpoints({ endpoints }: { endpoints: Endpoint[] }) {
  return (
    <Section title="Webhook endpoints" flush>
      <DataTable
        label="Webhook endpoints"
        columns={COLUMNS}
        rows={endpoints}
        rowKey={(endpoint) => endpoint.id}
        empty={
          <EmptyState title="No webhook endpoints">
            The business has not configured any. Webhooks are optional.
          </EmptyState>
        }
      />
    </Section>
  );
}

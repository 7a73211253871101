import { Anchor, Stack, Text } from "@mantine/core";
import { Link } from "react-router-dom";
import type { BusinessEvent } from "../../api/events";
import { useMay } from "../../app/session";
import linked from "../../components/linked-rows.module.css";
import { StatusBadge } from "../../components/status-badge";
import { deliveryLabel } from "../webhooks/labels";

/** The webhooks of an event: one link for each endpoint. */
export function EventWebhooks({ event, isUnknown }: { event: BusinessEvent; isUnknown: boolean }) {
  const isLinked = useMay("read_webhooks");
  if (event.deliveries.length === 0) return <Text c="dimmed">{isUnknown ? "Unknown" : "None"}</Text>;
  return (
    <Stack gap={2} align="flex-start">
      {event.deliveries.map((delivery) => {
        const { tone, label } = deliveryLabel(delivery);
        const response = delivery.lastResponseStatus;
        const outcome = <StatusBadge tone={tone} label={response ? `${label} (HTTP ${response})` : label} />;
        if (!isLinked) return <span key={delivery.id}>{outcome}</span>;
        return (
          <Anchor
            key={delivery.id}
            component={Link}
            to={`/webhooks/deliveries/${delivery.id}`}
            className={linked.above}
            size="sm"
          >
            {outcome}
          </Anchor>
        );
      })}
    </Stack>
  );
}

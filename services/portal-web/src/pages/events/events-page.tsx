import { Anchor, Group, NativeSelect, Text } from "@mantine/core";
import { IconListDetails, IconSearch } from "@tabler/icons-react";
import { Link } from "react-router-dom";
import { type BusinessEvent, type EventFilter, useEvents } from "../../api/events";
import type { Column } from "../../components/data-table";
import { EmptyState, NoMatches } from "../../components/empty-state";
import linked from "../../components/linked-rows.module.css";
import { ListFrame } from "../../components/list-section";
import { PageHeader } from "../../components/page-header";
import { SearchField } from "../../components/search-field";
import { Time } from "../../components/time";
import { useUrlFilter } from "../../components/use-url-filter";
import { eventLabel, ORDER_EVENTS } from "../../format/event-labels";
import { kindChoices, MODES } from "../../format/filter-choices";
import { EventWebhooks } from "./event-webhooks";

const FIELDS = ["search", "event", "mode"] as const;

export function Component() {
  const { filter, change, clear, count } = useUrlFilter<EventFilter>(FIELDS);
  const events = useEvents(filter);
  const isIncomplete = events.missing.length > 0;
  return (
    <>
      <PageHeader
        title="Events"
        description="The events of all orders, newest first, each with its webhooks."
      />
      <Filters filter={filter} onChange={change} />
      {isIncomplete && (
        <Text c="dimmed" mb="sm" role="status">
          Temporarily unavailable: webhooks.
        </Text>
      )}
      <ListFrame
        label="Events"
        list={events}
        failed="The events could not be loaded"
        columns={columns(isIncomplete)}
        rowKey={(event) => event.id}
        rowClass={() => linked.row}
        showsCount
        empty={<Nothing isFiltered={count > 0} goesOn={events.hasNextPage} onClear={clear} />}
      />
    </>
  );
}

function Filters({ filter, onChange }: { filter: EventFilter; onChange: (change: EventFilter) => void }) {
  return (
    <Group gap="sm" mb="sm">
      <SearchField
        style={{ flex: "1 1 18rem", maxWidth: "26rem" }}
        label="Find the events of an order"
        placeholder="Order id, tracking code or reference"
        value={filter.search}
        onChange={(search) => onChange({ search })}
      />
      <NativeSelect
        aria-label="Event"
        value={filter.event ?? ""}
        onChange={(change) => onChange({ event: change.currentTarget.value as EventFilter["event"] })}
        data={kindChoices(ORDER_EVENTS)}
      />
      <NativeSelect
        aria-label="Mode"
        value={filter.mode ?? ""}
        onChange={(change) => onChange({ mode: change.currentTarget.value as EventFilter["mode"] })}
        data={MODES}
      />
    </Group>
  );
}

interface NothingProps {
  isFiltered: boolean;
  goesOn: boolean;
  onClear: () => void;
}

function Nothing({ isFiltered, goesOn, onClear }: NothingProps) {
  if (goesOn) {
    return (
      <EmptyState title="Nothing found so far">
        The events are searched in parts. Select “Show more” to search older events.
      </EmptyState>
    );
  }
  if (isFiltered) {
    return (
      <NoMatches
        icon={<IconSearch size={28} />}
        title="No events match these filters"
        clear="Show all events"
        onClear={onClear}
      >
        Enter the full order reference, tracking code or order id.
      </NoMatches>
    );
  }
  return (
    <EmptyState icon={<IconListDetails size={28} />} title="No events yet">
      Send an order with your Test key and simulate its delivery. Each step is an event.
    </EmptyState>
  );
}

function columns(isIncomplete: boolean): Column<BusinessEvent>[] {
  return [
    { key: "event", header: "Event", lead: true, width: "28%", render: (event) => <Kind event={event} /> },
    { key: "order", header: "Order", render: (event) => <Order event={event} /> },
    {
      key: "webhooks",
      header: "Webhooks",
      width: "26%",
      render: (event) => <EventWebhooks event={event} isUnknown={isIncomplete} />,
    },
    {
      key: "recorded",
      header: "Recorded",
      width: "16%",
      align: "end",
      render: (event) => <Time at={event.recordedAt} relative />,
    },
  ];
}

function Kind({ event }: { event: BusinessEvent }) {
  return (
    <>
      <Anchor component={Link} to={`/orders/${event.orderId}`} className={linked.open} size="sm" fw={500}>
        {eventLabel(event.event)}
      </Anchor>
      <Text size="xs" c="dimmed" ff="monospace" className={linked.clip}>
        {event.event}
      </Text>
    </>
  );
}

function Order({ event }: { event: BusinessEvent }) {
  return (
    <>
      <Text className={linked.clip} title={event.orderReference}>
        {event.orderReference}
      </Text>
      <Text size="xs" c="dimmed">
        {event.mode === "live" ? "Live" : "Test"}, event {event.sequence}
      </Text>
    </>
  );
}

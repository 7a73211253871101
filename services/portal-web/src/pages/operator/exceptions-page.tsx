import { Anchor, Group, Text } from "@mantine/core";
import { Link } from "react-router-dom";
import {
  type ExceptionOfAll,
  type ExceptionsFilter,
  STAFF_DECIDER,
  useExceptionsOfAll,
} from "../../api/operator-orders";
import { useMay } from "../../api/operator-session";
import type { Column } from "../../components/data-table";
import { ErrorState } from "../../components/error-state";
import { PageHeader } from "../../components/page-header";
import { SearchField } from "../../components/search-field";
import { useUrlFilter } from "../../components/use-url-filter";
import { COLUMNS, ExceptionCard } from "../exceptions/columns";
import {
  Decisions,
  decisionOf,
  ExceptionsList,
  Kinds,
  kindOf,
  NO_EXCEPTIONS,
  NONE_DECIDED,
} from "../exceptions/exceptions-list";
import { BusinessField } from "./business-field";

const FIELDS = ["kind", "decision", "businessId", "area"] as const;

/** The live orders of all businesses that do not move on. */
export function Component() {
  const { filter, change } = useUrlFilter<Partial<ExceptionsFilter>>(FIELDS);
  const kind = kindOf(filter.kind);
  const decision = decisionOf(filter, kind);
  const exceptions = useExceptionsOfAll({ ...filter, kind, decision });
  const canDecide = useMay("change_businesses");
  return (
    <>
      <PageHeader
        title="Needs attention"
        description="Live orders of all businesses that do not move on by themselves."
      />
      <Group gap="sm" mb="md" align="flex-end">
        <Kinds
          kind={kind}
          decision={decision}
          counts={exceptions.data?.counts}
          onChange={(chosen) => change({ kind: chosen })}
        />
        {kind === "failed" && (
          <Decisions decision={decision} onChange={(chosen) => change({ decision: chosen })} />
        )}
        <BusinessField value={filter.businessId} onBusiness={(businessId) => change({ businessId })} />
        <SearchField
          label="City or PIN code"
          hasVisibleLabel
          size="xs"
          value={filter.area}
          onChange={(area) => change({ area })}
        />
      </Group>
      {exceptions.error && !exceptions.data ? (
        <ErrorState error={exceptions.error} onRetry={() => exceptions.refetch()} />
      ) : (
        <ExceptionsList
          key={JSON.stringify({ ...filter, kind, decision })}
          kind={kind}
          page={exceptions.data}
          isLoading={exceptions.isPending}
          columns={COLUMNS_OF_ALL}
          card={(order, select) => (
            <ExceptionCard order={order} path={path(order)} business={order.business.name} select={select} />
          )}
          decider={canDecide ? STAFF_DECIDER : undefined}
          none={filter.area ? NONE_THERE : ((decision && NONE_DECIDED[decision]) ?? NO_EXCEPTIONS[kind])}
        />
      )}
    </>
  );
}

/** Instead of an empty list of one area. */
const NONE_THERE = "No such order goes to this city or PIN code.";

const COLUMNS_OF_ALL: Column<ExceptionOfAll>[] = [
  { key: "order", header: "Order", lead: true, render: (order) => <Name order={order} /> },
  ...COLUMNS.filter(({ key }) => key !== "order"),
];

function path({ id }: ExceptionOfAll): string {
  return `/operator/orders?search=${id}`;
}

function Name({ order }: { order: ExceptionOfAll }) {
  const { business, customer } = order;
  return (
    <div style={{ overflowWrap: "anywhere" }}>
      <Anchor component={Link} to={path(order)} size="sm" fw={500}>
        {order.orderReference}
      </Anchor>
      <Text size="xs" c="dimmed">
        <Anchor component={Link} to={`/operator/businesses/${business.id}`} inherit>
          {business.name}
        </Anchor>
        {customer.name && ` · ${customer.name}`}
      </Text>
    </div>
  );
}

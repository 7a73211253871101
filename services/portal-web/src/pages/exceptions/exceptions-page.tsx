import { Alert, Anchor, Group } from "@mantine/core";
import { Link } from "react-router-dom";
import { type DecisionFilter, type ExceptionKind, OWN_DECIDER, useExceptions } from "../../api/after-failure";
import { useCash } from "../../api/cash";
import { useMay } from "../../app/session";
import { ErrorState } from "../../components/error-state";
import { Money } from "../../components/money";
import { PageHeader } from "../../components/page-header";
import { useUrlFilter } from "../../components/use-url-filter";
import { LATE_CASH, orderCount } from "../../format/cash-labels";
import { COLUMNS, ExceptionCard } from "./columns";
import {
  Decisions,
  decisionOf,
  ExceptionsList,
  Kinds,
  kindOf,
  NO_EXCEPTIONS,
  NONE_DECIDED,
} from "./exceptions-list";

const NONE = { ...NO_EXCEPTIONS, failed: "No failed delivery waits for your decision." };

const FIELDS = ["kind", "decision"] as const;

export function Component() {
  const { filter, change } = useUrlFilter<{ kind?: ExceptionKind; decision?: DecisionFilter | undefined }>(
    FIELDS,
  );
  const kind = kindOf(filter.kind);
  const decision = decisionOf(filter, kind);
  const exceptions = useExceptions(kind, decision);
  const seesMoney = useMay("read_money");
  const canDecide = useMay("cancel_orders");
  return (
    <>
      <PageHeader title="Needs attention" description="Live orders that do not move on by themselves." />
      {seesMoney && <LateCash />}
      <Group gap="sm" mb="md">
        <Kinds
          kind={kind}
          decision={decision}
          counts={exceptions.data?.counts}
          onChange={(chosen) => change({ kind: chosen })}
        />
        {kind === "failed" && (
          <Decisions decision={decision} onChange={(chosen) => change({ decision: chosen })} />
        )}
      </Group>
      {exceptions.error && !exceptions.data ? (
        <ErrorState error={exceptions.error} onRetry={() => exceptions.refetch()} />
      ) : (
        <ExceptionsList
          key={`${kind} ${decision}`}
          kind={kind}
          page={exceptions.data}
          isLoading={exceptions.isPending}
          columns={COLUMNS}
          card={(order, select) => (
            <ExceptionCard order={order} path={`/orders/${order.id}`} select={select} />
          )}
          decider={canDecide ? OWN_DECIDER : undefined}
          none={(decision && NONE_DECIDED[decision]) ?? NONE[kind]}
        />
      )}
    </>
  );
}

/** Cash that was not settled by its promised day. */
function LateCash() {
  const { totals } = useCash({ late: true });
  if (!totals || totals.lateOrders === 0) return null;
  return (
    <Alert color="yellow" variant="light" mb="md" title="Cash late">
      <Money paise={totals.latePaise} /> of {orderCount(totals.lateOrders)} is past its promised day.{" "}
      <Anchor component={Link} to={LATE_CASH} size="sm">
        Show the orders
      </Anchor>
    </Alert>
  );
}

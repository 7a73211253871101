import { Alert, Button, Checkbox, Group, NativeSelect, Paper, SegmentedControl, Text } from "@mantine/core";
import { IconCircleCheck } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import type { Decider, Decision, DecisionFilter, ExceptionKind, Exceptions } from "../../api/after-failure";
import type { Order } from "../../api/orders";
import { type Column, DataTable } from "../../components/data-table";
import { EmptyState } from "../../components/empty-state";
import { ACTIONS, DecideAll } from "./decide-all";
import classes from "./exceptions.module.css";

const KIND_LABELS: Record<ExceptionKind, string> = {
  failed: "Failed",
  unassigned: "No driver",
  stuck: "No news",
};
/** Instead of an empty list. */
export const NO_EXCEPTIONS: Record<ExceptionKind, string> = {
  failed: "No failed delivery waits for a decision.",
  unassigned: "Every order has a driver, or is new.",
  stuck: "The fleet reported about every parcel on its way.",
};
/** Instead of an empty list of what was asked for. */
export const NONE_DECIDED: { [decision in DecisionFilter]?: string } = {
  asked: "No attempt or return that was asked for is late.",
  pending: "No attempt or return that was asked for waits to begin.",
};
const KINDS = Object.keys(KIND_LABELS) as ExceptionKind[];
const COUNTED_MAX = 1000;

/** The kind that an address names. */
export function kindOf(text: string | undefined): ExceptionKind {
  return KINDS.find((kind) => kind === text) ?? "failed";
}

interface KindsProps {
  kind: ExceptionKind;
  /** With one, the list has other orders than are counted. */
  decision: DecisionFilter | undefined;
  counts: Exceptions["counts"] | undefined;
  onChange: (kind: ExceptionKind) => void;
}

/** Chooses a kind, with the number of orders of each, unless their decision is chosen. */
export function Kinds({ kind, decision, counts, onChange }: KindsProps) {
  const counted = (name: ExceptionKind) => {
    const count = decision ? undefined : counts?.[name];
    if (count === undefined) return KIND_LABELS[name];
    return `${KIND_LABELS[name]} (${count >= COUNTED_MAX ? "1,000+" : count})`;
  };
  return (
    <SegmentedControl
      aria-label="Kind"
      value={kind}
      onChange={(chosen) => onChange(kindOf(chosen))}
      data={KINDS.map((name) => ({ value: name, label: counted(name) }))}
    />
  );
}

/** The filter by decision, which failed deliveries alone have. */
export function decisionOf(filter: { decision?: DecisionFilter | undefined }, kind: ExceptionKind) {
  return kind === "failed" ? filter.decision : undefined;
}

interface DecisionsProps {
  decision: DecisionFilter | undefined;
  onChange: (decision: DecisionFilter | undefined) => void;
}

/** Chooses failed deliveries by what was asked for. A decided one needs attention only when it is late. */
export function Decisions({ decision, onChange }: DecisionsProps) {
  return (
    <NativeSelect
      aria-label="Decision"
      size="xs"
      value={decision ?? ""}
      onChange={(event) => onChange((event.currentTarget.value || undefined) as DecisionFilter | undefined)}
      data={[
        { value: "", label: "Undecided, or decided and late" },
        { value: "asked", label: "Decided and late" },
        { value: "none", label: "Undecided" },
        { value: "pending", label: "Decided and not begun" },
      ]}
    />
  );
}

interface ExceptionsListProps<One extends Order> {
  kind: ExceptionKind;
  page: { data: One[]; attemptsMax: number; hasMore: boolean } | undefined;
  isLoading: boolean;
  columns: Column<One>[];
  /** A row on a phone, with what selects it. */
  card: (order: One, select: ReactNode) => ReactNode;
  /** Nobody, if the reader must not decide. */
  decider: Decider<One> | undefined;
  /** Shown instead of an empty list. */
  none: string;
}

/** Orders of one kind. If the reader can do something about them, they can be selected, to do it together. */
export function ExceptionsList<One extends Order>(props: ExceptionsListProps<One>) {
  const { kind, page, isLoading, columns, card, none } = props;
  const actions = props.decider?.actions[kind] ?? [];
  const decider = actions.length > 0 ? props.decider : undefined;
  const [selected, setSelected] = useState<string[]>([]);
  const [action, setAction] = useState<Decision["action"] | null>(null);
  const rows = page?.data ?? [];
  const chosen = rows.filter((order) => selected.includes(order.id));
  const select = {
    key: "select",
    header: "Select",
    width: "5%",
    render: (order: One) => (
      <Checkbox
        aria-label={`Select ${order.orderReference}`}
        checked={selected.includes(order.id)}
        onChange={(event) => {
          const others = selected.filter((id) => id !== order.id);
          setSelected(event.currentTarget.checked ? [...others, order.id] : others);
        }}
      />
    ),
  } satisfies Column<One>;
  return (
    <Paper style={{ overflow: "clip" }}>
      {decider && rows.length > 0 && (
        <Group gap="xs" p="md" className={classes.bar}>
          <Checkbox
            label="Select all"
            checked={chosen.length === rows.length}
            indeterminate={chosen.length > 0 && chosen.length < rows.length}
            onChange={(event) => setSelected(event.currentTarget.checked ? rows.map(({ id }) => id) : [])}
          />
          {actions.map((name) => (
            <Button
              key={name}
              size="xs"
              variant={name === "reattempt" ? "filled" : "default"}
              disabled={chosen.length === 0}
              onClick={() => setAction(name)}
            >
              {ACTIONS[name].title}
            </Button>
          ))}
        </Group>
      )}
      <DataTable
        label={KIND_LABELS[kind]}
        columns={decider ? [select, ...columns] : columns}
        card={(order) => card(order, decider && select.render(order))}
        rows={rows}
        rowKey={(order) => order.id}
        isLoading={isLoading}
        empty={
          <EmptyState icon={<IconCircleCheck size={28} />} title="Nothing needs you here">
            {none}
          </EmptyState>
        }
      />
      {page?.hasMore && (
        <Alert variant="light" m="md">
          <Text>There are more. The newest 100 are listed; older ones follow as these are settled.</Text>
        </Alert>
      )}
      {action && page && decider && (
        <DecideAll
          action={action}
          decider={decider}
          orders={chosen}
          attemptsMax={page.attemptsMax}
          onClose={() => {
            setAction(null);
            setSelected([]);
          }}
        />
      )}
    </Paper>
  );
}

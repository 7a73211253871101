import { Anchor, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router-dom";
import type { PagedList } from "../../api/list";
import type { AuditEntry } from "../../api/types";
import { InlineCode } from "../../components/code-block";
import { CopyButton } from "../../components/copy-button";
import type { Column } from "../../components/data-table";
import { ListSection } from "../../components/list-section";
import { Time } from "../../components/time";
import { entryLines, entryTitle } from "./audit-texts";

interface AuditSectionProps {
  log: PagedList<AuditEntry>;
  description: string;
  empty: ReactNode;
  /** Buttons next to the title. */
  actions?: ReactNode;
  /** Filters above the entries. */
  children?: ReactNode;
  /** Links an entry to its order. The console has no pages of orders. */
  linksOrders?: boolean;
}

/** Who did what, newest first. */
export function AuditSection({ log, linksOrders = false, ...section }: AuditSectionProps) {
  return (
    <ListSection
      {...section}
      title="Audit log"
      list={log}
      failed="The audit log could not be loaded"
      columns={linksOrders ? WITH_LINKS : WITHOUT_LINKS}
      rowKey={(entry) => entry.id}
      showsCount
    />
  );
}

const columns = (linksOrders: boolean): Column<AuditEntry>[] => [
  { key: "at", header: "Time", render: (entry) => <Time at={entry.at} /> },
  {
    key: "action",
    header: "Action",
    lead: true,
    render: (entry) => (
      <>
        <Text fw={500}>{entryTitle(entry)}</Text>
        <Target entry={entry} linksOrders={linksOrders} />
      </>
    ),
  },
  { key: "actor", header: "User", render: (entry) => <Actor entry={entry} /> },
  {
    key: "details",
    header: "Details",
    render: (entry) => <DetailLines lines={entryLines(entry)} />,
  },
  {
    key: "request",
    header: "Request",
    render: (entry) =>
      entry.requestId ? <CopyButton value={entry.requestId} label={`Copy ${entry.requestId}`} /> : "–",
  },
];
const WITH_LINKS = columns(true);
const WITHOUT_LINKS = columns(false);

export function DetailLines({ lines }: { lines: string[] }) {
  return lines.length === 0 ? "–" : lines.map((line) => <div key={line}>{line}</div>);
}

/** Targets whose ids mean nothing to users. */
const HIDDEN_TARGETS = ["business", "session"];

function Target({ entry, linksOrders }: { entry: AuditEntry; linksOrders: boolean }) {
  if (!entry.target) return null;
  const { label, id, type } = entry.target;
  if (!label && HIDDEN_TARGETS.includes(type)) return null;
  if (linksOrders && type === "order") {
    return (
      <Anchor component={Link} to={`/orders/${id}`} size="xs">
        {label ?? id}
      </Anchor>
    );
  }
  return (
    <Text size="xs" c="dimmed" component="div">
      {label ? <span title={id}>{label}</span> : <InlineCode>{id}</InlineCode>}
    </Text>
  );
}

function Actor({ entry }: { entry: AuditEntry }) {
  return (
    <div style={{ overflowWrap: "anywhere" }}>
      {actorName(entry.actor)}
      {entry.address && (
        <Text size="xs" c="dimmed">
          {entry.address}
        </Text>
      )}
    </div>
  );
}

function actorName(actor: AuditEntry["actor"]): string {
  if (actor.type === "operator") return actor.name ? `Delivery company, ${actor.name}` : "Delivery company";
  if (actor.type === "system") return "System";
  const email = actor.email ?? actor.userId ?? "A former user";
  return actor.name ? `${actor.name} (${email})` : email;
}

import { Group, Progress, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconDownload, IconFileSpreadsheet } from "@tabler/icons-react";
import {
  downloadExport,
  type Export,
  isEnded,
  removeExport,
  useExportChange,
  useExports,
} from "../api/exports";
import { asFailure } from "../api/failure";
import type { AccountScope } from "../api/recent-authentication";
import {
  EXPORT_FORMATS,
  EXPORT_KINDS,
  failureOf,
  filterOf,
  progressOf,
  rowsOf,
} from "../format/export-labels";
import { CallButton } from "./call-button";
import type { Column } from "./data-table";
import { EmptyState } from "./empty-state";
import { ListFrame } from "./list-section";
import { StatusBadge } from "./status-badge";
import { Time } from "./time";

/** The exports of the last 24 hours, newest first. */
export function ExportsTable({ scope }: { scope: AccountScope }) {
  return (
    <ListFrame
      label="Exports"
      list={useExports(scope)}
      failed="The exports could not be loaded"
      columns={scope === "portal" ? PORTAL : OPERATOR}
      rowKey={(row) => row.id}
      empty={
        <EmptyState icon={<IconFileSpreadsheet size={28} />} title="No exports">
          Open a list, choose its filters, and press Export. The file appears here for 24 hours.
        </EmptyState>
      }
    />
  );
}

const PORTAL = columns("portal", (row) => (
  <>
    {titleOf(row)}
    {filterOf(row) && <Note>{filterOf(row)}</Note>}
    {!row.yours && <Note>By a colleague</Note>}
  </>
));

const OPERATOR = columns("operator", (row) => (
  <>
    {titleOf(row)}
    {filterOf(row) && <Note>{filterOf(row)}</Note>}
    <Note>{row.businessName}</Note>
  </>
));

function columns(scope: AccountScope, lead: Column<Export>["render"]): Column<Export>[] {
  return [
    { key: "what", header: "Export", lead: true, render: lead },
    { key: "state", header: "State", width: "24%", render: (row) => <State shown={row} /> },
    {
      key: "created",
      header: "Requested",
      width: "14%",
      render: (row) => <Time at={row.createdAt} relative />,
    },
    {
      key: "expires",
      header: "Deleted",
      width: "14%",
      render: (row) => <Time at={row.expiresAt} upcoming />,
    },
    {
      key: "actions",
      header: "Actions",
      width: "28%",
      align: "end",
      actions: true,
      render: (row) => <Actions scope={scope} shown={row} />,
    },
  ];
}

function titleOf({ kind, format }: Export): string {
  return `${EXPORT_KINDS[kind]}, ${EXPORT_FORMATS[format]}`;
}

function Note({ children }: { children: string }) {
  return (
    <Text size="xs" c="dimmed">
      {children}
    </Text>
  );
}

function State({ shown }: { shown: Export }) {
  switch (shown.state) {
    case "done":
      return (
        <>
          <StatusBadge tone="good" label="Ready" />
          <Note>{rowsOf(shown)}</Note>
        </>
      );
    case "failed":
      return (
        <>
          <StatusBadge tone="bad" label="Failed" />
          {shown.failure && <Note>{failureOf(shown.failure)}</Note>}
        </>
      );
    case "waiting":
      return <StatusBadge tone="idle" label={progressOf(shown)} />;
    case "running":
      return (
        <>
          <Note>{progressOf(shown)}</Note>
          <Progress value={shown.percent} aria-label="Progress" mt={4} />
        </>
      );
  }
}

function Actions({ scope, shown }: { scope: AccountScope; shown: Export }) {
  const onError = (error: unknown) => notifications.show({ color: "red", message: asFailure(error).message });
  const save = useExportChange(scope, () => downloadExport(scope, shown.id));
  const remove = useExportChange(scope, () => removeExport(scope, shown.id));
  const name = titleOf(shown);
  return (
    <Group gap="xs" justify="flex-end">
      {shown.state === "done" && (
        <CallButton
          size="xs"
          loading={save.isPending}
          leftSection={<IconDownload size={14} aria-hidden />}
          aria-label={`Download ${name}`}
          onClick={() => save.mutate(undefined, { onError })}
        >
          Download
        </CallButton>
      )}
      <CallButton
        size="xs"
        variant="default"
        loading={remove.isPending}
        aria-label={`${isEnded(shown) ? "Delete" : "Cancel"} ${name}`}
        onClick={() => remove.mutate(undefined, { onError })}
      >
        {isEnded(shown) ? "Delete" : "Cancel"}
      </CallButton>
    </Group>
  );
}

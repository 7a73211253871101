import { Button, Group, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type ReactNode, useState } from "react";
import type { ApiKey } from "../../api/types";
import { useMay, useSession } from "../../app/session";
import { InlineCode } from "../../components/code-block";
import { type Column, DataTable } from "../../components/data-table";
import { StatusBadge } from "../../components/status-badge";
import { Time } from "../../components/time";
import { SCOPES } from "./key-options";
import { isReplaced, keyState, maskedKey } from "./key-state";
import { RevokeButton } from "./revoke-button";
import { RotateKeyDialog } from "./rotate-key-dialog";

interface KeysTableProps {
  label: string;
  keys: ApiKey[];
  isLoading: boolean;
  empty: ReactNode;
}

export function KeysTable({ label, keys, isLoading, empty }: KeysTableProps) {
  const canChange = useMay("manage_integration");
  const [rotating, setRotating] = useState<ApiKey | null>(null);
  const [isRotating, { open, close }] = useDisclosure(false);
  const rotate = (key: ApiKey) => {
    setRotating(key);
    open();
  };
  return (
    <>
      <DataTable
        label={label}
        columns={canChange ? [...COLUMNS, actions(rotate)] : COLUMNS}
        rows={keys}
        rowKey={(key) => key.id}
        isLoading={isLoading}
        empty={empty}
      />
      {rotating && <RotateKeyDialog apiKey={rotating} opened={isRotating} onClose={close} />}
    </>
  );
}

const COLUMNS: Column<ApiKey>[] = [
  { key: "name", header: "Name", lead: true, render: (key) => <Text fw={500}>{key.name}</Text> },
  { key: "key", header: "Key", render: (key) => <InlineCode>{maskedKey(key)}</InlineCode> },
  { key: "state", header: "Status", render: (key) => <KeyState apiKey={key} /> },
  { key: "access", header: "Access", render: (key) => <Access apiKey={key} /> },
  { key: "lastUsed", header: "Last used", render: (key) => <Time at={key.lastUsedAt} relative /> },
  { key: "created", header: "Created", render: (key) => <Creation apiKey={key} /> },
];

function actions(onRotate: (key: ApiKey) => void): Column<ApiKey> {
  return {
    key: "actions",
    header: "Actions",
    align: "end",
    actions: true,
    render: (key) => (keyState(key).works ? <KeyActions apiKey={key} onRotate={onRotate} /> : null),
  };
}

function KeyState({ apiKey }: { apiKey: ApiKey }) {
  const state = keyState(apiKey);
  return (
    <>
      <StatusBadge tone={state.tone} label={state.label} />
      {state.works && apiKey.expiresAt && (
        <Text size="xs" c="dimmed">
          {isReplaced(apiKey) ? "rotated, ends at " : "expires "}
          <Time at={apiKey.expiresAt} relative={!isReplaced(apiKey)} />
        </Text>
      )}
    </>
  );
}

function Access({ apiKey: { scopes, ipAllowList } }: { apiKey: ApiKey }) {
  const allowed = SCOPES.filter(({ scope }) => scopes?.includes(scope)).map(({ label }) => label);
  return (
    <>
      <Text size="sm">{scopes ? allowed.join(", ") : "Everything"}</Text>
      {ipAllowList && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          from {ipAllowList.join(", ")}
        </Text>
      )}
    </>
  );
}

function Creation({ apiKey }: { apiKey: ApiKey }) {
  const { userId } = useSession();
  const seesTeam = useMay("manage_integration");
  const creator = apiKey.createdBy === userId ? "you" : (apiKey.createdByEmail ?? "a removed user");
  const isShown = apiKey.createdBy && (seesTeam || creator === "you");
  return (
    <>
      <Time at={apiKey.createdAt} relative />
      {isShown && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          by {creator}
        </Text>
      )}
    </>
  );
}

function KeyActions({ apiKey, onRotate }: { apiKey: ApiKey; onRotate: (key: ApiKey) => void }) {
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      {!isReplaced(apiKey) && (
        <Button
          variant="default"
          size="xs"
          onClick={() => onRotate(apiKey)}
          aria-label={`Rotate ${apiKey.name} …${apiKey.lastFour}`}
        >
          Rotate
        </Button>
      )}
      <RevokeButton apiKey={apiKey} />
    </Group>
  );
}

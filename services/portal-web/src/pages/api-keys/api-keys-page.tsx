import { Alert, Button, Stack, Switch, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconKey, IconLock, IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { useApiKeys } from "../../api/api-keys";
import { useLiveStatus } from "../../api/status";
import type { ApiKey, Mode } from "../../api/types";
import { useMay } from "../../app/session";
import { EmptyState } from "../../components/empty-state";
import { ErrorState } from "../../components/error-state";
import { LoadMore } from "../../components/load-more";
import { PageHeader } from "../../components/page-header";
import { Section } from "../../components/section";
import { CreateKeyDialog } from "./create-key-dialog";
import { keyState } from "./key-state";
import { KeysTable } from "./keys-table";
import { OpenItems } from "./open-items";

export function Component() {
  const keys = useApiKeys();
  const canCreate = useMay("manage_integration");
  const [wanted, setWanted] = useState<Mode>("test");
  const [isCreating, { open, close }] = useDisclosure(false);
  const [showsEnded, setShowsEnded] = useState(false);

  function create(mode: Mode) {
    setWanted(mode);
    open();
  }

  const shown = showsEnded ? keys.rows : keys.rows.filter((key) => keyState(key).works);
  const hasEnded = keys.rows.some((key) => !keyState(key).works);
  const group = { isLoading: keys.isPending, canCreate, onCreate: create };
  return (
    <>
      <PageHeader
        title="API keys"
        description="Your backend sends a key with each request. The key decides whether an order is a test or a real delivery."
        actions={
          canCreate && (
            <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => create("test")}>
              Create key
            </Button>
          )
        }
      />
      {/* A failed refetch must not unmount the dialog below: it may show the only copy of a key. */}
      {keys.isLoadingError ? (
        <ErrorState error={keys.error} title="The keys could not be loaded" onRetry={() => keys.refetch()} />
      ) : (
        <Stack gap="lg">
          <TestKeys {...group} keys={shown.filter((key) => key.mode === "test")} />
          <LiveKeys {...group} keys={shown.filter((key) => key.mode === "live")} />
          {hasEnded && (
            <Switch
              label="Show revoked and expired keys"
              checked={showsEnded}
              onChange={(event) => setShowsEnded(event.currentTarget.checked)}
            />
          )}
          <LoadMore list={keys} />
        </Stack>
      )}
      <CreateKeyDialog opened={isCreating} onClose={close} mode={wanted} key={wanted} />
    </>
  );
}

interface KeyGroupProps {
  keys: ApiKey[];
  isLoading: boolean;
  canCreate: boolean;
  onCreate: (mode: Mode) => void;
}

function TestKeys({ keys, isLoading, canCreate, onCreate }: KeyGroupProps) {
  return (
    <Section title="Test keys" description="Orders with a Test key are free and get no driver." flush>
      <KeysTable
        label="Test keys"
        keys={keys}
        isLoading={isLoading}
        empty={
          <EmptyState
            icon={<IconKey size={26} />}
            title="No Test key yet"
            action={canCreate && <Button onClick={() => onCreate("test")}>Create a Test key</Button>}
          >
            Create one to place test orders from your backend.
          </EmptyState>
        }
      />
    </Section>
  );
}

function LiveKeys({ keys, isLoading, canCreate, onCreate }: KeyGroupProps) {
  const { data: status } = useLiveStatus();
  const isLocked = status?.goLive.unlocked === false;
  const empty = isLocked ? null : (
    <EmptyState
      icon={<IconKey size={26} />}
      title="No Live key yet"
      action={canCreate && <Button onClick={() => onCreate("live")}>Create a Live key</Button>}
    >
      You can go live. Create a Live key to order real deliveries.
    </EmptyState>
  );
  return (
    <Section
      title="Live keys"
      description="Orders with a Live key are real deliveries, paid from your wallet."
      flush
    >
      {isLocked && (
        <Alert
          role="note"
          mx="md"
          mb="md"
          variant="light"
          color="gray"
          icon={<IconLock aria-hidden />}
          title="Locked"
        >
          <Text mb={6}>To unlock Live keys and live orders, complete these items:</Text>
          <OpenItems items={status.goLive.items} />
        </Alert>
      )}
      <KeysTable label="Live keys" keys={keys} isLoading={isLoading || !status} empty={empty} />
    </Section>
  );
}

import { Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { isPasskeyOrigin, usePasskeys, useRemovePasskey } from "../../api/passkeys";
import type { AccountScope } from "../../api/recent-authentication";
import type { Factor, Passkey } from "../../api/types";
import { ConfirmButton } from "../confirm-button";
import { ErrorState } from "../error-state";
import { Time } from "../time";
import { AddPasskeyDialog } from "./add-passkey-dialog";

interface PasskeysProps {
  scope: AccountScope;
  factor: Factor;
}

/** The passkeys of the own account. Hidden where this installation offers none. */
export function Passkeys({ scope, factor }: PasskeysProps) {
  const passkeys = usePasskeys(scope);
  const [isAdding, { open, close }] = useDisclosure(false);
  if (!factor.passkeyOrigin && !factor.passkeys) return null;
  if (passkeys.error) {
    return (
      <ErrorState
        error={passkeys.error}
        title="The passkeys could not be loaded"
        onRetry={() => passkeys.refetch()}
      />
    );
  }
  if (!passkeys.data) return <Skeleton height={60} />;
  const { data, max } = passkeys.data;
  return (
    <Stack gap="sm">
      <div>
        <Title order={3} size="h5">
          Passkeys
        </Title>
        <Text c="dimmed" size="sm">
          A passkey replaces the code: your device checks your fingerprint, face or PIN. It works only at the
          real address, so nobody can trick you into entering it elsewhere.
        </Text>
      </div>
      {data.length > 0 && (
        <Stack component="ul" aria-label="Passkeys" gap="xs" p={0} m={0}>
          {data.map((passkey) => (
            <Item key={passkey.id} scope={scope} passkey={passkey} />
          ))}
        </Stack>
      )}
      <Group>
        {isPasskeyOrigin(factor.passkeyOrigin) ? (
          <Button variant="default" size="xs" onClick={open} disabled={data.length >= max}>
            Add a passkey
          </Button>
        ) : (
          <Text size="sm">{elsewhere(factor.passkeyOrigin)}</Text>
        )}
        {data.length >= max && <Text size="sm">You have {max} passkeys. Remove one to add another.</Text>}
      </Group>
      {isAdding && <AddPasskeyDialog scope={scope} onClose={close} />}
    </Stack>
  );
}

/** Why none can be added on this page. */
function elsewhere(origin: string | null | undefined): string {
  if (!origin) return "This portal no longer offers passkeys. Log in with codes.";
  if (origin !== window.location.origin) return `To use passkeys, open ${origin}.`;
  return "This browser does not support passkeys.";
}

function Item({ scope, passkey }: { scope: AccountScope; passkey: Passkey }) {
  const remove = useRemovePasskey(scope);
  return (
    <Group component="li" justify="space-between" wrap="nowrap" gap="md">
      <div style={{ minWidth: 0, overflowWrap: "anywhere" }}>
        <Text fw={500}>{passkey.name}</Text>
        <Text c="dimmed" size="sm">
          Added <Time at={passkey.createdAt} relative />
          {" · "}
          {passkey.lastUsedAt ? (
            <>
              last used <Time at={passkey.lastUsedAt} relative />
            </>
          ) : (
            "never used"
          )}
        </Text>
      </div>
      <ConfirmButton
        title={`Remove “${passkey.name}”?`}
        description="It no longer opens your account. Delete it in your device or password manager too."
        confirm="Remove"
        aria-label={`Remove ${passkey.name}`}
        flex="none"
        onConfirm={async () => {
          await remove.mutateAsync(passkey.id);
          notifications.show({ message: "The passkey is removed." });
        }}
      >
        Remove
      </ConfirmButton>
    </Group>
  );
}

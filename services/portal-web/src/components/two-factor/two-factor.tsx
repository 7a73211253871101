import { Alert, Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { type ReactNode, useState } from "react";
import type { AccountScope } from "../../api/recent-authentication";
import { useFactor, useRefetchFactor, useRemoveFactor, useReplaceCodes } from "../../api/second-factor";
import type { Factor } from "../../api/types";
import { ConfirmButton } from "../confirm-button";
import { ErrorState } from "../error-state";
import { Section } from "../section";
import { Time } from "../time";
import { Passkeys } from "./passkeys";
import { RecoveryCodes } from "./recovery-codes";
import { SetUp } from "./set-up";

/** Sets up, shows and removes the second factor of the own account. */
export function TwoFactor({ scope, before }: { scope: AccountScope; before?: ReactNode }) {
  const factor = useFactor(scope);
  const refetch = useRefetchFactor(scope);
  const [codes, setCodes] = useState<string[] | null>(null);
  return (
    <Section
      title="Two-factor authentication"
      description="After your password, you also enter a code of an app on your phone, or use a passkey. A stolen password alone then opens nothing."
    >
      {factor.data ? (
        <Content scope={scope} factor={factor.data} before={before} onCodes={setCodes} />
      ) : factor.error ? (
        <ErrorState error={factor.error} title="It could not be loaded" onRetry={() => factor.refetch()} />
      ) : (
        <Skeleton height={36} />
      )}
      <RecoveryCodes
        codes={codes}
        onClose={() => {
          setCodes(null);
          refetch();
        }}
      />
    </Section>
  );
}

interface ContentProps {
  scope: AccountScope;
  factor: Factor;
  /** What must be done before it can be set up. */
  before?: ReactNode;
  onCodes: (codes: string[]) => void;
}

function Content({ scope, factor, before, onCodes }: ContentProps) {
  const [isSettingUp, setIsSettingUp] = useState(false);
  if (factor.enrolled) return <TurnedOn scope={scope} factor={factor} onCodes={onCodes} />;
  if (!factor.available) return <Text>This portal does not offer two-factor authentication yet.</Text>;
  if (before) return before;
  if (!isSettingUp) {
    return (
      <Group>
        <Button onClick={() => setIsSettingUp(true)}>Set up</Button>
      </Group>
    );
  }
  return (
    <SetUp
      scope={scope}
      onCancel={() => setIsSettingUp(false)}
      onDone={(codes) => {
        setIsSettingUp(false);
        onCodes(codes);
      }}
    />
  );
}

/** Fewer unused codes than this are shown as a warning. */
const CODES_LOW = 3;

function TurnedOn({ scope, factor, onCodes }: ContentProps) {
  const remove = useRemoveFactor(scope);
  const replace = useReplaceCodes(scope);
  const left = factor.recoveryCodesLeft;
  return (
    <Stack>
      <Text>
        On since <Time at={factor.confirmedAt} />. {left === 1 ? "1 recovery code" : `${left} recovery codes`}{" "}
        left.
      </Text>
      {left < CODES_LOW && (
        <Alert role="note" color="yellow" variant="light">
          Few recovery codes are left. Create new ones, so that you can log in without your phone.
        </Alert>
      )}
      <Group gap="xs">
        <ConfirmButton
          title="Create new recovery codes?"
          description="All old recovery codes stop working."
          confirm="Create codes"
          onConfirm={() => replace.mutateAsync().then(({ recoveryCodes }) => onCodes(recoveryCodes))}
        >
          New recovery codes
        </ConfirmButton>
        <ConfirmButton
          title="Turn off two-factor authentication?"
          description={
            factor.required
              ? "Your role requires it: you can do nothing else until you set it up again."
              : "Your password alone then opens your account."
          }
          confirm="Turn off"
          onConfirm={async () => {
            await remove.mutateAsync();
            notifications.show({ message: "Two-factor authentication is off." });
          }}
        >
          Turn off
        </ConfirmButton>
      </Group>
      <Passkeys scope={scope} factor={factor} />
    </Stack>
  );
}

import { Anchor } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { AccountScope } from "../../api/recent-authentication";
import { RecoveryCodes } from "./recovery-codes";
import { SetUp } from "./set-up";

interface RequiredSetUpProps {
  scope: AccountScope;
  /** What must be done before. */
  before?: ReactNode;
  onDone: () => void;
  onLogOut: () => void;
}

/** All that people see whose role requires two-factor authentication and who do not have it yet. */
export function RequiredSetUp({ scope, before, onDone, onLogOut }: RequiredSetUpProps) {
  const [codes, setCodes] = useState<string[] | null>(null);
  return (
    <>
      {before ?? (codes === null && <SetUp scope={scope} onDone={setCodes} />)}
      <RecoveryCodes codes={codes} onClose={onDone} />
      <Anchor component="button" type="button" size="sm" mt="md" onClick={onLogOut}>
        Log out
      </Anchor>
    </>
  );
}

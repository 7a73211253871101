import { useQueryClient } from "@tanstack/react-query";
import { sessionKey, useLogOut } from "../../api/session";
import { ConfirmAddressFirst } from "../../app/confirm-address-first";
import { useIsUnconfirmed } from "../../app/use-is-unconfirmed";
import { RequiredSetUp } from "../../components/two-factor/required-set-up";
import { AuthFrame } from "./auth-frame";

/** Replaces the portal's pages until the user has set up two-factor authentication. */
export default function RequiredSetUpPage({ onDone }: { onDone: () => void }) {
  const client = useQueryClient();
  const logOut = useLogOut();
  const isUnconfirmed = useIsUnconfirmed();
  async function done() {
    await client.refetchQueries({ queryKey: sessionKey });
    onDone();
  }
  return (
    <AuthFrame
      title="Set up two-factor authentication"
      description="Your role requires it. You can continue when it is on."
    >
      <RequiredSetUp
        scope="portal"
        before={isUnconfirmed ? <ConfirmAddressFirst act="set it up" /> : undefined}
        onDone={done}
        onLogOut={() => logOut.mutate()}
      />
    </AuthFrame>
  );
}

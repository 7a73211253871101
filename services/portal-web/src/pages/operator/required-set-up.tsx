import { useQueryClient } from "@tanstack/react-query";
import { operatorSessionKey, useOperatorLogOut } from "../../api/operator-session";
import { RequiredSetUp } from "../../components/two-factor/required-set-up";
import { AuthFrame } from "../auth/auth-frame";

/** Replaces the console's pages until the person has set up two-factor authentication. */
export function RequiredSetUpPage({ onDone }: { onDone: () => void }) {
  const client = useQueryClient();
  const logOut = useOperatorLogOut();
  async function done() {
    await client.refetchQueries({ queryKey: operatorSessionKey });
    onDone();
  }
  return (
    <AuthFrame
      title="Set up two-factor authentication"
      description="Your role requires it. You can continue when it is on."
    >
      <RequiredSetUp scope="operator" onDone={done} onLogOut={() => logOut.mutate()} />
    </AuthFrame>
  );
}

import { Stack } from "@mantine/core";
import { useOperatorSession } from "../../api/operator-session";
import { PageHeader } from "../../components/page-header";
import { TwoFactor } from "../../components/two-factor/two-factor";
import { PasswordForm } from "../account/password-form";
import { Sessions } from "../account/sessions";
import { LinkSso } from "./link-sso";

/** The own account of a person of the staff, or the sessions of the token of the settings. */
export function Component() {
  const { data: session } = useOperatorSession();
  if (!session) return null;
  const isPerson = session.type === "person";
  return (
    <>
      <PageHeader
        title={isPerson ? "Your account" : "Sessions"}
        description={isPerson ? session.name : "Token of the settings"}
      />
      <Stack gap="lg">
        {isPerson && <LinkSso />}
        {isPerson && !session.singleSignOn && <PasswordForm scope="operator" email={session.name} />}
        {isPerson && !session.singleSignOn && <TwoFactor scope="operator" />}
        <Sessions scope="operator" description={isPerson ? undefined : OF_TOKEN} />
      </Stack>
    </>
  );
}

const OF_TOKEN =
  "Browsers that are logged in with the token of the settings. If you do not recognize one, end its session and change the token.";

import { Stack } from "@mantine/core";
import { useChangeStaffName } from "../../api/operator-access";
import { useOperatorSession } from "../../api/operator-session";
import type { OperatorSession } from "../../api/types";
import { PageHeader } from "../../components/page-header";
import { Section } from "../../components/section";
import { TwoFactor } from "../../components/two-factor/two-factor";
import { NameForm } from "../account/name-form";
import { PasswordForm } from "../account/password-form";
import { Sessions } from "../account/sessions";
import { LinkSso } from "./link-sso";

/** The own account of a person of the staff, or the sessions of the installation token. */
export function Component() {
  const { data: session } = useOperatorSession();
  if (!session) return null;
  const isPerson = session.type === "person";
  return (
    <>
      <PageHeader
        title={isPerson ? "Your account" : "Sessions"}
        description={isPerson ? session.name : "Installation token"}
      />
      <Stack gap="lg">
        {isPerson && <Name session={session} />}
        {isPerson && <LinkSso />}
        {isPerson && !session.singleSignOn && <PasswordForm scope="operator" email={session.name} />}
        {isPerson && !session.singleSignOn && <TwoFactor scope="operator" />}
        <Sessions scope="operator" description={isPerson ? undefined : OF_TOKEN} />
      </Stack>
    </>
  );
}

const NAME_CHARS_MAX = 120;

function Name({ session }: { session: OperatorSession }) {
  const change = useChangeStaffName();
  return (
    <Section title="Name" description="Administrators see it in the list of the staff.">
      <NameForm
        label="Your name"
        description="It appears next to your e-mail address."
        autoComplete="name"
        name={session.displayName ?? ""}
        max={NAME_CHARS_MAX}
        act="Save name"
        field="name"
        required="Enter your name."
        save={change.mutateAsync}
      />
    </Section>
  );
}

const OF_TOKEN =
  "Browsers that are logged in with the installation token. If you do not recognize one, end its session and change the token.";

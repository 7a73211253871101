import { Stack } from "@mantine/core";
import { useOperatorSession } from "../../api/operator-session";
import { PageHeader } from "../../components/page-header";
import { TwoFactor } from "../../components/two-factor/two-factor";
import { LinkSso } from "./link-sso";

/** The own account of a person of the staff. */
export function Component() {
  const { data: session } = useOperatorSession();
  return (
    <>
      <PageHeader title="Your account" description={session?.name ?? ""} />
      {session?.type === "person" && (
        <Stack>
          <LinkSso />
          {!session.singleSignOn && <TwoFactor scope="operator" />}
        </Stack>
      )}
    </>
  );
}

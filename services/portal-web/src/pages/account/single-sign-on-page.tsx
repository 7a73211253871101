import { Alert, Stack, Text } from "@mantine/core";
import { useSsoSettings } from "../../api/business-sso";
import { ConfirmAddressFirst } from "../../app/confirm-address-first";
import { NotForRole } from "../../app/not-for-role";
import { useMay, useSession } from "../../app/session";
import { useIsUnconfirmed } from "../../app/use-is-unconfirmed";
import { InlineCode } from "../../components/code-block";
import { CopyButton } from "../../components/copy-button";
import { ErrorState } from "../../components/error-state";
import { Fact, Facts } from "../../components/facts";
import { Section } from "../../components/section";
import { AccountFrame } from "./account-frame";
import { SsoForm } from "./sso-form";
import { SsoState } from "./sso-state";

export function Component() {
  const canManage = useMay("manage_single_sign_on");
  return (
    <AccountFrame>
      {canManage ? <Settings /> : <NotForRole what="Only owners can set up single sign-on." />}
    </AccountFrame>
  );
}

function Settings() {
  const { data, error, refetch } = useSsoSettings();
  const canChange = !useSession().singleSignOn;
  const isUnconfirmed = useIsUnconfirmed();
  if (error) return <ErrorState error={error} onRetry={() => refetch()} />;
  if (!data) return null;
  if (!data.available) {
    return (
      <Alert color="gray" title="Not available">
        This installation does not offer single sign-on to businesses. Ask your delivery company.
      </Alert>
    );
  }
  return (
    <Stack gap="lg" maw={720}>
      {!canChange && (
        <Alert color="blue" title="Log in with your password to change this">
          A session of the identity provider cannot change it: a mistake would end your only way in.
        </Alert>
      )}
      {data.provider && <SsoState provider={data.provider} canChange={canChange} />}
      <Section
        title="Addresses"
        description="Register the redirect address at your identity provider, and give your team the login address."
      >
        <Facts>
          <Fact name="Redirect address">
            <Address value={data.redirectUrl} label="Copy the redirect address" />
          </Fact>
          <Fact name="Login address">
            <Address value={data.logInUrl} label="Copy the login address" />
          </Fact>
        </Facts>
      </Section>
      {canChange && isUnconfirmed && <ConfirmAddressFirst act="set up single sign-on" />}
      {canChange && !isUnconfirmed && <SsoForm provider={data.provider ?? null} />}
    </Stack>
  );
}

function Address({ value, label }: { value: string; label: string }) {
  return (
    <Text component="span" style={{ overflowWrap: "anywhere" }}>
      <InlineCode>{value}</InlineCode> <CopyButton value={value} label={label} />
    </Text>
  );
}

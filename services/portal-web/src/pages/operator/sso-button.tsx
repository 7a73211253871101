import { Divider, Stack } from "@mantine/core";
import { useConfig } from "../../api/config";
import { useStartSso } from "../../api/single-sign-on";
import { CallButton } from "../../components/call-button";
import { ErrorState } from "../../components/error-state";

/** Leads to the identity provider, above the form with the password if there is one. */
export function SsoButton({ hasForm }: { hasForm: boolean }) {
  const { singleSignOn } = useConfig();
  const start = useStartSso();
  if (!singleSignOn) return null;
  return (
    <Stack mb={hasForm ? "md" : 0}>
      {start.error && <ErrorState error={start.error} title="Single sign-on is not possible" />}
      <CallButton
        variant={hasForm ? "default" : "filled"}
        fullWidth
        loading={start.isPending}
        onClick={() => start.mutate("log_in")}
      >
        {singleSignOn.label}
      </CallButton>
      {hasForm && <Divider label="or with your password" labelPosition="center" />}
    </Stack>
  );
}

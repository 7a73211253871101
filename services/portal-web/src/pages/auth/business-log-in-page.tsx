import { Anchor, Stack, Text } from "@mantine/core";
import { Link, useLocation, useParams } from "react-router-dom";
import { useStartBusinessSso } from "../../api/business-sso";
import { CallButton } from "../../components/call-button";
import { ErrorState } from "../../components/error-state";
import { AuthFrame } from "./auth-frame";

/** The log-in of one business with its identity provider. */
export function Component() {
  const { businessId = "" } = useParams();
  const { search } = useLocation();
  const start = useStartBusinessSso(businessId);
  return (
    <AuthFrame
      title="Log in"
      footer={
        <Anchor component={Link} to={`/log-in${search}`} size="sm">
          Log in with a password
        </Anchor>
      }
    >
      <Stack>
        {start.error && <ErrorState error={start.error} title="Single sign-on is not possible" />}
        <Text>Use the account of your company.</Text>
        <CallButton fullWidth autoFocus loading={start.isPending} onClick={() => start.mutate()}>
          Log in with single sign-on
        </CallButton>
      </Stack>
    </AuthFrame>
  );
}

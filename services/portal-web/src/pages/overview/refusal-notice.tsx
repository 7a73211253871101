import { Alert, Stack, Text } from "@mantine/core";
import { useAskAgain, useRefusal } from "../../api/refusal";
import { useMay } from "../../app/session";
import { CallButton } from "../../components/call-button";
import { ErrorState } from "../../components/error-state";
import { Time } from "../../components/time";

/** Why the operator refused the approval or live access, until it grants it. */
export function RefusalNotice() {
  const refusal = useRefusal().data?.refusal;
  const mayAsk = useMay("manage_business");
  const ask = useAskAgain();
  if (!refusal) return null;
  const { reason, refusedAt, askedAgainAt } = refusal;
  return (
    <Alert
      role="status"
      color="yellow"
      variant="light"
      mb="lg"
      title="Your delivery company does not let you go live yet"
    >
      <Stack gap="xs" align="flex-start">
        <Text style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>Reason: {reason}</Text>
        <Text size="sm">
          {askedAgainAt ? (
            <>
              Asked again on <Time at={askedAgainAt} />. Your delivery company looks at it.
            </>
          ) : (
            <>
              Refused on <Time at={refusedAt} />. Once this is settled, an owner can ask again.
            </>
          )}
        </Text>
        {mayAsk && !askedAgainAt && (
          <CallButton size="xs" loading={ask.isPending} onClick={() => ask.mutate()}>
            Ask again
          </CallButton>
        )}
        {ask.error && <ErrorState error={ask.error} title="The request failed" />}
      </Stack>
    </Alert>
  );
}

import { Alert, Stack, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import { useAskAgain, useRefusal } from "../../api/refusal";
import { useMay } from "../../app/session";
import { useIsClosing } from "../../app/use-is-suspended";
import { CallButton } from "../../components/call-button";
import { ErrorState } from "../../components/error-state";
import { Time } from "../../components/time";

const NOTE_CHARS_MAX = 500;

/** Why the operator refused the approval or live access, until it grants it. */
export function RefusalNotice() {
  const refusal = useRefusal().data?.refusal;
  const mayAsk = useMay("manage_business");
  const ask = useAskAgain();
  const [note, setNote] = useState("");
  const isClosing = useIsClosing();
  // Nobody decides about a business that is being closed.
  if (!refusal || isClosing) return null;
  const { reason, refusedAt, askedAgainAt, note: sent } = refusal;
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
        {sent && (
          <Text style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>Your message: {sent}</Text>
        )}
        {mayAsk && !sent && (
          <>
            <Textarea
              label="What has changed since"
              maxLength={NOTE_CHARS_MAX}
              autosize
              minRows={2}
              w="100%"
              maw={480}
              value={note}
              onChange={(event) => setNote(event.currentTarget.value)}
            />
            <CallButton
              size="xs"
              loading={ask.isPending}
              disabled={Boolean(askedAgainAt) && note.trim() === ""}
              onClick={() => ask.mutate(note.trim(), { onSuccess: () => setNote("") })}
            >
              {askedAgainAt ? "Add message" : "Ask again"}
            </CallButton>
          </>
        )}
        {ask.error && <ErrorState error={ask.error} title="The request failed" />}
      </Stack>
    </Alert>
  );
}

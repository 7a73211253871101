import { Stack, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import { useBeginClosing, useClosing, useWithdrawClosing } from "../../api/closing";
import type { Closing } from "../../api/types";
import { NotForRole } from "../../app/not-for-role";
import { useMay } from "../../app/session";
import { ClosingItems, type ItemLinks } from "../../components/closing-items";
import { ClosingState } from "../../components/closing-state";
import { ConfirmButton } from "../../components/confirm-button";
import { ErrorState } from "../../components/error-state";
import { Loading } from "../../components/loading";
import { Section } from "../../components/section";
import { WithdrawClosing } from "../../components/withdraw-closing";
import { AccountFrame } from "./account-frame";

const REASON_CHARS_MAX = 500;

const LINKS: ItemLinks = {
  live_orders: "/orders?mode=live",
  failed_deliveries: "/exceptions",
  cash: "/cash-on-delivery",
  cash_discrepancies: "/cash-on-delivery?discrepant=true",
  balance: "/wallet",
  debt: "/wallet",
  keys: "/api-keys",
  endpoints: "/webhooks",
};

export function Component() {
  const canClose = useMay("manage_business");
  return (
    <AccountFrame>
      {canClose ? <Parts /> : <NotForRole what="Only owners can close the business." />}
    </AccountFrame>
  );
}

function Parts() {
  const { data: closing, error, refetch } = useClosing();
  if (!closing) {
    if (error)
      return <ErrorState error={error} title="The closing could not be loaded" onRetry={() => refetch()} />;
    return <Loading what="Loading what is open" height={420} radius="lg" />;
  }
  return (
    <Stack gap="lg" maw={720}>
      <ClosingState closing={closing} operator="your delivery company" />
      <Section title="What is open" description={DESCRIPTIONS[closing.state]}>
        {closing.open && (
          <ClosingItems open={closing.open} unsettled={closing.unsettled ?? []} links={LINKS} />
        )}
      </Section>
      {closing.state === "not_begun" && <Begin />}
      {closing.state === "open" && !closing.endingAt && <Withdraw closing={closing} />}
    </Stack>
  );
}

const DESCRIPTIONS: Record<Closing["state"], string> = {
  not_begun: "What your delivery company and you must settle before the business can be closed.",
  open: "Your delivery company completes the closing once the marked items are settled. It pays out the balance to your bank account, and then switches off keys and endpoints.",
  completed: "Contact your delivery company if something is open.",
};

function Begin() {
  const begin = useBeginClosing();
  const [reason, setReason] = useState("");
  return (
    <Section
      title="Close this business"
      description="New live orders, keys and endpoints are refused from then on. Placed orders continue."
    >
      <Stack gap="sm" align="flex-start">
        <Textarea
          label="Reason (optional)"
          description="Your delivery company reads it."
          maxLength={REASON_CHARS_MAX}
          autosize
          minRows={2}
          w="100%"
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <ConfirmButton
          title="Close this business?"
          description="New live orders are refused at once. You can withdraw this until your delivery company begins to complete it."
          confirm="Begin closing"
          onConfirm={() => begin.mutateAsync(reason.trim() || null)}
        >
          Close business
        </ConfirmButton>
      </Stack>
    </Section>
  );
}

function Withdraw({ closing }: { closing: Closing }) {
  const withdraw = useWithdrawClosing();
  return (
    <Section title="Keep this business">
      {closing.begunBy === "operator" ? (
        <Text>Your delivery company is closing the business. Ask it to withdraw this.</Text>
      ) : (
        <WithdrawClosing
          description="Live orders are accepted as before the closing."
          onWithdraw={() => withdraw.mutateAsync(undefined)}
        />
      )}
    </Section>
  );
}

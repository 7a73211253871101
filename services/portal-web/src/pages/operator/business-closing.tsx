import { Button, Group, Stack, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import {
  type BusinessDetails,
  useBeginClosingOf,
  useClosingOf,
  useCompleteClosing,
  useWithdrawClosingOf,
} from "../../api/operator-businesses";
import { useMay } from "../../api/operator-session";
import type { Closing } from "../../api/types";
import { ClosingItems, type ItemLinks } from "../../components/closing-items";
import { ClosingState } from "../../components/closing-state";
import { ConfirmButton } from "../../components/confirm-button";
import { ErrorState } from "../../components/error-state";
import { Loading } from "../../components/loading";
import { Section } from "../../components/section";
import { WithdrawClosing } from "../../components/withdraw-closing";
import { AdjustWallet } from "./adjust-wallet";
import type { Adjustment } from "./adjust-wallet-dialog";

const REASON_CHARS_MAX = 500;

/** What a business has open, and the steps of its closing. */
export function BusinessClosing({ business }: { business: BusinessDetails }) {
  const mayChange = useMay("change_businesses");
  const { data: closing, error, refetch } = useClosingOf(business.id);
  if (!closing) {
    if (error)
      return <ErrorState error={error} title="The closing could not be loaded" onRetry={() => refetch()} />;
    return <Loading what="Loading what is open" height={420} radius="lg" />;
  }
  return (
    <Stack gap="md">
      <ClosingState closing={closing} operator="your staff" />
      <Section
        title="What is open"
        description="The marked items must be settled before the closing is completed. The completion revokes keys and deletes endpoints."
        actions={<PayOut business={business} closing={closing} />}
      >
        {closing.open && (
          <ClosingItems
            open={closing.open}
            unsettled={closing.unsettled ?? []}
            links={linksOf(business.id)}
          />
        )}
      </Section>
      {mayChange && closing.state === "not_begun" && (
        <Begin businessId={business.id} title="Close this business" action="Close business" />
      )}
      {mayChange && closing.state === "open" && closing.begunBy === "owner" && !closing.endingAt && (
        <Begin businessId={business.id} title="Take over the closing" action="Take over" />
      )}
      {mayChange && closing.state === "open" && <End businessId={business.id} closing={closing} />}
    </Stack>
  );
}

function linksOf(businessId: string): ItemLinks {
  const page = `/operator/businesses/${businessId}`;
  return {
    live_orders: `${page}?tab=orders`,
    failed_deliveries: `${page}?tab=orders`,
    cash: `/operator/cash/${businessId}`,
    cash_discrepancies: `/operator/cash/${businessId}`,
    balance: page,
    debt: page,
    approvals: `${page}?tab=approvals`,
    endpoints: `${page}?tab=health`,
  };
}

/** The balance leaves the wallet by a debit with the reference of the bank transfer. */
function PayOut({ business, closing }: { business: BusinessDetails; closing: Closing }) {
  const mayCredit = useMay("credit_wallets");
  const [adjustment, setAdjustment] = useState<Adjustment | null>(null);
  const paise = closing.open?.balancePaise ?? 0;
  const begins = { paise, reason: "Balance paid out by bank transfer: the business is being closed." };
  return (
    <>
      {mayCredit && closing.state !== "not_begun" && paise > 0 && (
        <Button size="xs" variant="default" onClick={() => setAdjustment({ isDebit: true, begins })}>
          Record payout
        </Button>
      )}
      <AdjustWallet business={business} adjustment={adjustment} onClose={() => setAdjustment(null)} />
    </>
  );
}

interface BeginProps {
  businessId: string;
  title: string;
  action: string;
}

/** Of nobody's closing, or of an owner's: then it becomes one of the operator. */
function Begin({ businessId, title, action }: BeginProps) {
  const begin = useBeginClosingOf(businessId);
  const [reason, setReason] = useState("");
  return (
    <Section
      title={title}
      description="New live orders, keys and endpoints are refused from then on. Placed orders continue. Owners with a confirmed address get an e-mail. No owner can withdraw this."
    >
      <Stack gap="sm" align="flex-start" maw={640}>
        <Textarea
          label="Reason"
          description="The owners read it."
          maxLength={REASON_CHARS_MAX}
          autosize
          minRows={2}
          w="100%"
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <ConfirmButton
          title={`${title}?`}
          description="New live orders are refused at once. You can withdraw this until its completion begins."
          confirm="Begin closing"
          disabled={reason.trim() === ""}
          onConfirm={() => begin.mutateAsync(reason.trim())}
        >
          {action}
        </ConfirmButton>
      </Stack>
    </Section>
  );
}

function End({ businessId, closing }: { businessId: string; closing: Closing }) {
  const [withdraw, complete] = [useWithdrawClosingOf(businessId), useCompleteClosing(businessId)];
  return (
    <Section title="End of the closing">
      <Stack gap="sm">
        {!closing.canComplete && <Text>Settle the marked items first.</Text>}
        <Group gap="xs">
          <ConfirmButton
            title="Complete the closing?"
            description="API keys are revoked and webhook endpoints deleted. This cannot be undone."
            confirm="Complete closing"
            disabled={!closing.canComplete}
            onConfirm={() => complete.mutateAsync(undefined)}
          >
            Complete closing
          </ConfirmButton>
          {!closing.endingAt && (
            <WithdrawClosing
              description="Live access is as it was before the closing."
              onWithdraw={() => withdraw.mutateAsync(undefined)}
            />
          )}
        </Group>
      </Stack>
    </Section>
  );
}

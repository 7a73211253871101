import { Alert, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { type UseFormReturnType, useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { isApproval } from "../../api/operator-approvals";
import {
  type BusinessDetails,
  useBusinessHealth,
  useCreditWallet,
  useDebitWallet,
} from "../../api/operator-businesses";
import { useOperatorSession } from "../../api/operator-session";
import type { WalletEntry } from "../../api/wallet";
import { Dialog, DialogStep } from "../../components/dialog";
import { DialogActions } from "../../components/dialog-actions";
import { Deposit } from "../../components/entry-columns";
import { Fact } from "../../components/facts";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { RupeeInput, rupeesError } from "../../components/rupee-input";
import { decimalRupees, formatPaise, parseRupees } from "../../format/money";
import { formatExact } from "../../format/time";
import {
  AmountCheck,
  isChecked,
  type Movement,
  type MovementVerb,
  movementVerb,
  uncoveredPaise,
} from "./amount-check";
import { coveredCredits, notifySent } from "./approval-labels";

const REFERENCE_CHARS_MAX = 128;
const REASON_CHARS_MAX = 500;

/** A credit, or a debit that takes back an entry or stands alone. */
export interface Adjustment {
  isDebit: boolean;
  entry?: WalletEntry;
  /** What the form of a debit begins with, for example the balance that is paid out. */
  begins?: { paise: number; reason: string };
}

export interface AdjustWalletDialogProps {
  business: BusinessDetails;
  adjustment: Adjustment | null;
  onClose: () => void;
}

export function AdjustWalletDialog({ business, adjustment, onClose }: AdjustWalletDialogProps) {
  return (
    <Dialog
      opened={adjustment !== null}
      onClose={onClose}
      title={<Text fw={600}>{adjustment && titleOf(adjustment, business.name)}</Text>}
    >
      {adjustment && <Steps business={business} adjustment={adjustment} onDone={onClose} />}
    </Dialog>
  );
}

function titleOf({ isDebit, entry }: Adjustment, name: string): string {
  if (entry) return `Take back from ${name}`;
  return `${isDebit ? "Debit" : "Credit"} ${name}`;
}

interface StepsProps {
  business: BusinessDetails;
  adjustment: Adjustment;
  onDone: () => void;
}

type Fields = {
  amountPaise: string;
  reference: string;
  reason: string;
};

/** First the form, then the check of the amount. */
function Steps({ business, adjustment, onDone }: StepsProps) {
  const { isDebit, entry, begins } = adjustment;
  const [isChecking, setIsChecking] = useState(false);
  const balancePaise = useBusinessHealth(business.id).data?.balancePaise;
  const leftPaise = entry?.leftPaise ?? 0;
  const form = useForm<Fields>({
    initialValues: {
      amountPaise: entry || begins ? decimalRupees(begins?.paise ?? leftPaise) : "",
      reference: "",
      reason: begins?.reason ?? "",
    },
    validate: {
      amountPaise: (text) => {
        const error = rupeesError(text, 1);
        const paise = parseRupees(text) ?? 0;
        if (error || !isDebit) return error;
        if (entry) return paise > leftPaise ? `Only ${formatPaise(leftPaise)} of this entry is left.` : null;
        return paise > (balancePaise ?? Infinity)
          ? `The balance is only ${formatPaise(balancePaise ?? 0)}.`
          : null;
      },
      reference: (text) => (text.trim() === "" ? "Enter a reference." : null),
      reason: (text) => (isDebit && text.trim() === "" ? "Enter a reason." : null),
    },
  });
  if (isChecking) {
    const back = () => setIsChecking(false);
    return (
      <DialogStep key="check">
        <Check business={business} adjustment={adjustment} form={form} onBack={back} onDone={onDone} />
      </DialogStep>
    );
  }
  return (
    <DialogStep key="form">
      <form onSubmit={form.onSubmit(() => setIsChecking(true), focusFirstError(form))} noValidate>
        <Stack>
          <RupeeInput label="Amount" data-autofocus {...form.getInputProps("amountPaise")} />
          <TextInput
            label="Reference"
            description={`${isDebit ? "The number of your correction, such as a debit note." : "An invoice or bank reference."} The business sees it in its statement.`}
            maxLength={REFERENCE_CHARS_MAX}
            autoComplete="off"
            {...form.getInputProps("reference")}
          />
          {isDebit && (
            <Textarea
              label="Reason"
              description="The business reads it in its statement. It is also in the audit logs."
              maxLength={REASON_CHARS_MAX}
              autosize
              minRows={2}
              {...form.getInputProps("reason")}
            />
          )}
          <Rules
            adjustment={adjustment}
            uncoveredPaise={uncoveredPaise(
              parseRupees(form.values.amountPaise) ?? 0,
              balancePaise ?? Infinity,
            )}
          />
          <DialogActions isPending={false} onCancel={onDone}>
            Continue
          </DialogActions>
        </Stack>
      </form>
    </DialogStep>
  );
}

interface RulesProps {
  adjustment: Adjustment;
  /** What the balance does not cover of the amount. */
  uncoveredPaise: number;
}

function Rules({ adjustment: { isDebit, entry }, uncoveredPaise }: RulesProps) {
  const limit = useOperatorSession().data?.approvals.creditsAbovePaise;
  return (
    <Alert role="note" color="gray" variant="light">
      <Text>
        {!isDebit && "Each reference is credited once."}
        {isDebit &&
          !entry &&
          "Each reference is debited once. The balance must cover the amount. To correct a wrong credit, use “Take back” at its entry of the statement."}
        {entry &&
          `The entry of ${formatExact(entry.createdAt)} was ${formatPaise(entry.amountPaise)}; ${formatPaise(entry.leftPaise ?? 0)} of it is left.`}
        {entry?.kind === "top_up" && " This does not refund the payment at the payment provider."}
        {entry &&
          uncoveredPaise > 0 &&
          ` ${formatPaise(uncoveredPaise)} of the amount is not covered by the balance; the business then owes it.`}
      </Text>
      {typeof limit === "number" && <Text mt={6}>A second person must approve {coveredCredits(limit)}.</Text>}
    </Alert>
  );
}

interface CheckProps extends StepsProps {
  form: UseFormReturnType<Fields>;
  onBack: () => void;
}

function Check({ business, adjustment: { isDebit, entry }, form, onBack, onDone }: CheckProps) {
  const [again, setAgain] = useState("");
  const health = useBusinessHealth(business.id).data;
  const credit = useCreditWallet(business.id);
  const debit = useDebitWallet(business.id);
  const paise = parseRupees(form.values.amountPaise) ?? 0;
  const [reference, reason] = [form.values.reference.trim(), form.values.reason.trim()];
  const limit = useOperatorSession().data?.approvals.creditsAbovePaise;
  const isRequest = typeof limit === "number" && paise > limit;
  const movement: Movement = {
    paise,
    isDebit,
    takesBack: entry !== undefined,
    balancePaise: health?.balancePaise,
    owedPaise: health?.owedPaise,
  };
  const send = async () => {
    const body = { amountPaise: paise, reference };
    if (!isDebit) return credit.mutateAsync(body);
    return debit.mutateAsync({ ...body, reason, reverses: entry?.transferId ?? null });
  };
  const act = () =>
    send().then(
      (given) => {
        onDone();
        if (isApproval(given)) notifySent(given);
        else notifications.show({ message: outcome(given, DONE[movementVerb(movement)]) });
      },
      // The form shows the error.
      () => undefined,
    );
  return (
    <Stack>
      <FormErrors error={credit.error ?? debit.error} form={form} />
      {isRequest && <Text>This is sent for approval. The money moves when another person approves it.</Text>}
      <AmountCheck movement={movement} again={again} onAgain={setAgain} isRequest={isRequest}>
        <Fact name="Reference">{reference}</Fact>
        <Fact name="Reason">{reason}</Fact>
        <Fact name="Takes back">{entry && <Deposit deposit={entry} />}</Fact>
      </AmountCheck>
      <DialogActions
        isPending={credit.isPending || debit.isPending}
        disabled={!isChecked(movement, again)}
        onCancel={onBack}
        cancel="Back"
        onAct={act}
      >
        {isRequest ? "Send for approval" : `${movementVerb(movement)} ${formatPaise(paise)}`}
      </DialogActions>
    </Stack>
  );
}

interface Given {
  amountPaise: number;
  balancePaise: number;
  owedPaise: number;
  createdAt: string;
  alreadyCredited?: boolean;
  alreadyDebited?: boolean;
}

const DONE: Record<MovementVerb, string> = {
  Credit: "credited",
  Debit: "debited",
  "Take back": "taken back",
};

function outcome(given: Given, done: string): string {
  const { amountPaise, balancePaise, owedPaise, createdAt, alreadyCredited, alreadyDebited } = given;
  const owed = owedPaise > 0 ? `, and the business owes ${formatPaise(owedPaise)}` : "";
  const balance = `The balance is ${formatPaise(balancePaise)}${owed}.`;
  const before = `This reference was already used on ${formatExact(createdAt)}, for the same amount.`;
  if (alreadyCredited || alreadyDebited) return `Nothing was ${done}. ${before} ${balance}`;
  return `${formatPaise(amountPaise)} ${done}. ${balance}`;
}

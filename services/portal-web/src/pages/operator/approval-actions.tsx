import { Button, Group, Stack, Text, Textarea } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { useApprove, useFetchResetLink, useReject, useWithdraw } from "../../api/operator-approvals";
import { useBusinessHealth } from "../../api/operator-businesses";
import type { Approval } from "../../api/types";
import { ConfirmButton } from "../../components/confirm-button";
import { Dialog } from "../../components/dialog";
import { DialogActions } from "../../components/dialog-actions";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { SecretOnce } from "../../components/secret-once";
import { AmountCheck, isChecked, type Movement } from "./amount-check";
import { approvalTitle, isAlreadyBooked } from "./approval-labels";

const REASON_CHARS_MAX = 500;

/** What this person can do with the request. */
export function ApprovalActions({ approval }: { approval: Approval }) {
  const { state, yours, mayDecide, kind } = approval;
  // Kept after the link is fetched: its dialog must not disappear with the state.
  if (kind === "issue_reset_link" && yours && state !== "pending") return <FetchLink approval={approval} />;
  if (mayDecide) return <Decide approval={approval} />;
  if (state !== "pending") return null;
  if (yours) return <Withdraw approval={approval} />;
  return <Text c="dimmed">Only a person with the permission for this can decide it.</Text>;
}

function Decide({ approval }: { approval: Approval }) {
  const [approving, approveDialog] = useDisclosure(false);
  const [rejecting, rejectDialog] = useDisclosure(false);
  const approve = useApprove(approval.id);
  const reject = useReject(approval.id);
  const title = approvalTitle(approval);
  const isRetry = approval.state === "approved";
  return (
    <>
      {isRetry && (
        <Text role="status">
          The wallet has not confirmed this. Approve it again to finish it: the money moves once.
        </Text>
      )}
      <Group gap="xs">
        <Button onClick={approveDialog.open}>{isRetry ? "Approve again" : "Approve"}</Button>
        {!isRetry && (
          <Button variant="default" onClick={rejectDialog.open}>
            Reject
          </Button>
        )}
      </Group>
      <Dialog
        opened={approving}
        onClose={approveDialog.close}
        title={<Text fw={600}>Approve: {title}?</Text>}
      >
        <ReasonForm
          step={approve}
          label="Approve"
          done="Approved."
          checks={isRetry ? undefined : approval}
          onDone={approveDialog.close}
        />
      </Dialog>
      <Dialog opened={rejecting} onClose={rejectDialog.close} title={<Text fw={600}>Reject: {title}?</Text>}>
        <ReasonForm step={reject} label="Reject" done="Rejected." required onDone={rejectDialog.close} />
      </Dialog>
    </>
  );
}

interface ReasonFormProps {
  step: ReturnType<typeof useReject>;
  label: string;
  /** The notification afterwards. */
  done: string;
  required?: boolean;
  /** The request whose amount is checked first. */
  checks?: Approval;
  onDone: () => void;
}

function ReasonForm({ step, label, done, required = false, checks, onDone }: ReasonFormProps) {
  const movement = useMovement(checks);
  const [again, setAgain] = useState("");
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { reason: "" },
    validate: { reason: (text) => (required && text.trim() === "" ? "Enter a reason." : null) },
  });
  const submit = form.onSubmit(
    ({ reason }) =>
      step.mutate(reason.trim(), {
        onSuccess: (decided) => {
          notifications.show({
            message: isAlreadyBooked(decided) ? "Nothing was moved: the amount is already booked." : done,
          });
          onDone();
        },
      }),
    focusFirstError(form),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <FormErrors error={step.error} form={form} />
        {movement && <AmountCheck movement={movement} again={again} onAgain={setAgain} />}
        <Textarea
          label={required ? "Reason" : "Reason (optional)"}
          description="The requester sees it."
          maxLength={REASON_CHARS_MAX}
          autosize
          minRows={2}
          data-autofocus
          key={form.key("reason")}
          {...form.getInputProps("reason")}
        />
        <DialogActions
          isPending={step.isPending}
          disabled={movement !== null && !isChecked(movement, again)}
          onCancel={onDone}
        >
          {label}
        </DialogActions>
      </Stack>
    </form>
  );
}

/** The amount of a credit or debit, and the wallet now. */
function useMovement(approval: Approval | undefined): Movement | null {
  const wallet = useBusinessHealth(approval?.businessId ?? "", isMovement(approval)).data;
  if (!isMovement(approval)) return null;
  const { balancePaise, owedPaise } = wallet ?? {};
  return {
    paise: approval.parameters.amountPaise,
    isDebit: approval.kind === "debit",
    takesBack: approval.kind === "debit" && Boolean(approval.parameters.reverses),
    balancePaise,
    owedPaise,
  };
}

type MoneyApproval = Extract<Approval, { kind: "credit" | "debit" }>;

function isMovement(approval: Approval | undefined): approval is MoneyApproval {
  return approval?.kind === "credit" || approval?.kind === "debit";
}

function Withdraw({ approval }: { approval: Approval }) {
  const withdraw = useWithdraw(approval.id);
  return (
    <Group>
      <ConfirmButton
        size="sm"
        title="Withdraw your request?"
        description="Nothing is executed. You can make the request again."
        confirm="Withdraw"
        onConfirm={() => withdraw.mutateAsync(undefined)}
      >
        Withdraw
      </ConfirmButton>
    </Group>
  );
}

function FetchLink({ approval }: { approval: Approval }) {
  const fetchLink = useFetchResetLink(approval.id);
  const [link, setLink] = useState<string | null>(null);
  return (
    <>
      {approval.state === "approved" && (
        <Group>
          <ConfirmButton
            size="sm"
            title="Show the reset link?"
            description="It is created now and shown once. The user and the owners get an e-mail, if their addresses are confirmed."
            confirm="Show link"
            onConfirm={() => fetchLink.mutateAsync(undefined).then(({ url }) => setLink(url))}
          >
            Show reset link
          </ConfirmButton>
        </Group>
      )}
      <SecretOnce secret={link} title="Reset link" what="link" onClose={() => setLink(null)}>
        The link works once, within an hour, and sets a new password. Anyone who opens it gets access to the
        account.
      </SecretOnce>
    </>
  );
}

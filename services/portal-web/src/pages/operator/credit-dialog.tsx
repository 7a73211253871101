import { Alert, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { isApproval } from "../../api/operator-approvals";
import { type BusinessDetails, useCreditWallet } from "../../api/operator-businesses";
import { useOperatorSession } from "../../api/operator-session";
import { DialogActions } from "../../components/dialog-actions";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { RupeeInput, rupeesError } from "../../components/rupee-input";
import { formatPaise, parseRupees } from "../../format/money";
import { coveredCredits, notifySent } from "./approval-labels";

const REFERENCE_CHARS_MAX = 128;

interface CreditDialogProps {
  business: BusinessDetails;
  opened: boolean;
  onClose: () => void;
}

export function CreditDialog({ business, opened, onClose }: CreditDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={<Text fw={600}>Credit {business.name}</Text>}>
      <CreditForm business={business} onDone={onClose} />
    </Modal>
  );
}

function CreditForm({ business, onDone }: { business: BusinessDetails; onDone: () => void }) {
  const credit = useCreditWallet(business.id);
  const limit = useOperatorSession().data?.approvals.creditsAbovePaise;
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { amountPaise: "", reference: "" },
    validate: {
      amountPaise: (text) => rupeesError(text, 1),
      reference: (text) => (text.trim() === "" ? "Enter a payment reference." : null),
    },
  });
  const submit = form.onSubmit(({ amountPaise, reference }) => {
    const body = { amountPaise: parseRupees(amountPaise) ?? 0, reference: reference.trim() };
    credit.mutate(body, {
      onSuccess: (given) => {
        onDone();
        if (isApproval(given)) return notifySent(given);
        const [amount, balance] = [formatPaise(given.amountPaise), formatPaise(given.balancePaise)];
        notifications.show({ message: `${amount} credited. The balance is ${balance}.` });
      },
    });
  }, focusFirstError(form));
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <FormErrors error={credit.error} form={form} />
        <RupeeInput
          label="Amount"
          data-autofocus
          key={form.key("amountPaise")}
          {...form.getInputProps("amountPaise")}
        />
        <TextInput
          label="Reference"
          description="An invoice or bank reference. The business sees it in its statement."
          maxLength={REFERENCE_CHARS_MAX}
          autoComplete="off"
          key={form.key("reference")}
          {...form.getInputProps("reference")}
        />
        <Alert role="note" color="gray" variant="light">
          <Text>
            Each reference is credited once: repeating it with the same amount has no effect. A credit cannot
            be reversed here.
          </Text>
          {typeof limit === "number" && (
            <Text mt={6}>A second person must approve {coveredCredits(limit)}.</Text>
          )}
        </Alert>
        <DialogActions isPending={credit.isPending} onCancel={onDone}>
          Credit
        </DialogActions>
      </Stack>
    </form>
  );
}

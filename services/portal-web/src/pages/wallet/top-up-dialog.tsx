import { Chip, Group, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { useRef } from "react";
import { isUncertain } from "../../api/failure";
import { type TopUp, useTopUp, useWallet } from "../../api/wallet";
import { Dialog } from "../../components/dialog";
import { DialogActions } from "../../components/dialog-actions";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { RupeeInput, rupeesError } from "../../components/rupee-input";
import { formatPaise, parseRupees } from "../../format/money";
import { newIdempotencyKey } from "./idempotency-key";

const PRESETS = ["500", "2000", "5000", "20000"];

interface TopUpDialogProps {
  opened: boolean;
  onClose: () => void;
  /** Called while the payment is pending. */
  onUnpaid: (topUp: TopUp) => void;
}

export function TopUpDialog({ opened, onClose, onUnpaid }: TopUpDialogProps) {
  return (
    <Dialog opened={opened} onClose={onClose} title={<Text fw={600}>Top up the wallet</Text>}>
      <TopUpForm onClose={onClose} onUnpaid={onUnpaid} />
    </Dialog>
  );
}

function TopUpForm({ onClose, onUnpaid }: Omit<TopUpDialogProps, "opened">) {
  const topUp = useTopUp();
  const owedPaise = useWallet().data?.owedPaise ?? 0;
  const keyFor = useKeyPerAmount();
  const isUnknown = isUncertain(topUp.error);
  const form = useForm({
    initialValues: { amountPaise: "" },
    validate: { amountPaise: (text) => rupeesError(text, 100) },
  });
  const submit = form.onSubmit((values) => {
    const amountPaise = parseRupees(values.amountPaise) ?? 0;
    topUp.mutate(
      { amountPaise, idempotencyKey: keyFor(amountPaise) },
      {
        onSuccess: (made) => {
          if (made.status === "pending") onUnpaid(made);
          else notifications.show({ message: `${formatPaise(made.amountPaise)} added to your wallet.` });
          onClose();
        },
      },
    );
  }, focusFirstError(form));
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <FormErrors error={topUp.error} form={form} />
        {owedPaise > 0 && <Text>You owe {formatPaise(owedPaise)}. The top-up pays that first.</Text>}
        {isUnknown && <Text>You can safely try again with the same amount: you pay only once.</Text>}
        <RupeeInput label="Amount" size="md" data-autofocus {...form.getInputProps("amountPaise")} />
        <Chip.Group
          value={form.values.amountPaise}
          onChange={(text) => form.setFieldValue("amountPaise", `${text}`)}
        >
          <Group gap={6} role="group" aria-label="Presets">
            {PRESETS.map((rupees) => (
              <Chip key={rupees} value={rupees} size="xs" variant="outline">
                {formatPaise(Number(rupees) * 100).replace(/\.00$/, "")}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
        <DialogActions isPending={topUp.isPending} onCancel={onClose}>
          {isUnknown ? "Try again" : "Top up"}
        </DialogActions>
      </Stack>
    </form>
  );
}

/** One key per amount while the form is open, so that a retry never pays twice. */
function useKeyPerAmount(): (amountPaise: number) => string {
  const keys = useRef(new Map<number, string>());
  return (amountPaise) => {
    const key = keys.current.get(amountPaise) ?? newIdempotencyKey();
    keys.current.set(amountPaise, key);
    return key;
  };
}

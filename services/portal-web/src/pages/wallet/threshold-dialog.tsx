import { Button, Group, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { useConfig } from "../../api/config";
import { useSetThreshold } from "../../api/wallet";
import { Dialog } from "../../components/dialog";
import { DialogActions } from "../../components/dialog-actions";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { RupeeInput, rupeesError } from "../../components/rupee-input";
import { decimalRupees, formatPaise, parseRupees } from "../../format/money";

interface ThresholdDialogProps {
  opened: boolean;
  onClose: () => void;
  thresholdPaise: number;
}

export function ThresholdDialog({ opened, onClose, thresholdPaise }: ThresholdDialogProps) {
  return (
    <Dialog opened={opened} onClose={onClose} title={<Text fw={600}>Low-balance warning</Text>}>
      <ThresholdForm thresholdPaise={thresholdPaise} onDone={onClose} />
    </Dialog>
  );
}

function ThresholdForm({ thresholdPaise, onDone }: { thresholdPaise: number; onDone: () => void }) {
  const set = useSetThreshold();
  const { mail } = useConfig();
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { thresholdPaise: decimalRupees(thresholdPaise) },
    validate: { thresholdPaise: (text) => rupeesError(text, 0) },
  });
  const save = (paise: number | null) =>
    set.mutate(paise, {
      onSuccess: ({ lowBalanceThresholdPaise: now }) => {
        notifications.show({
          message:
            now === 0 ? "Low-balance warning turned off." : `Low-balance warning set to ${formatPaise(now)}.`,
        });
        onDone();
      },
    });
  const submit = form.onSubmit((values) => save(parseRupees(values.thresholdPaise)), focusFirstError(form));
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <FormErrors error={set.error} form={form} />
        <RupeeInput
          label="Warn below"
          description={`Below this amount, the wallet shows “Low balance”, ${mail.enabled ? "we send an e-mail, " : ""}and we send a wallet.low_balance webhook. Enter 0 to turn the warning off.`}
          data-autofocus
          key={form.key("thresholdPaise")}
          {...form.getInputProps("thresholdPaise")}
        />
        <Group justify="space-between" gap="xs">
          <Button variant="subtle" onClick={() => save(null)} disabled={set.isPending} px={6}>
            Use default
          </Button>
          <DialogActions isPending={set.isPending} onCancel={onDone}>
            Save
          </DialogActions>
        </Group>
      </Stack>
    </form>
  );
}

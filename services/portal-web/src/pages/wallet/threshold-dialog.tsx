import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { useConfig } from "../../api/config";
import { useSetThreshold } from "../../api/wallet";
import { DialogActions } from "../../components/dialog-actions";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { RupeeInput, rupeesFault } from "../../components/rupee-input";
import { decimalRupees, formatPaise, parseRupees } from "../../format/money";

interface ThresholdDialogProps {
  opened: boolean;
  onClose: () => void;
  thresholdPaise: number;
}

export function ThresholdDialog({ opened, onClose, thresholdPaise }: ThresholdDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={<Text fw={600}>Low-balance warning</Text>}>
      <ThresholdForm thresholdPaise={thresholdPaise} onDone={onClose} />
    </Modal>
  );
}

function ThresholdForm({ thresholdPaise, onDone }: { thresholdPaise: number; onDone: () => void }) {
  const set = useSetThreshold();
  const { mail } = useConfig();
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { thresholdPaise: decimalRupees(thresholdPaise) },
    validate: { thresholdPaise: (text) => rupeesFault(text, 0) },
  });
  const save = (paise: number | null) =>
    set.mutate(paise, {
      onSuccess: ({ lowBalanceThresholdPaise: now }) => {
        notifications.show({
          message: now === 0 ? "The warning is off." : `You are warned below ${formatPaise(now)}.`,
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
          description={`Below it the wallet shows as low, ${mail.enabled ? "an e-mail goes out, " : ""}and webhooks that subscribe to wallet.low_balance hear of it. 0 turns the warning off.`}
          data-autofocus
          key={form.key("thresholdPaise")}
          {...form.getInputProps("thresholdPaise")}
        />
        <Group justify="space-between" gap="xs">
          <Button variant="subtle" onClick={() => save(null)} disabled={set.isPending} px={6}>
            Use the default
          </Button>
          <DialogActions isPending={set.isPending} onCancel={onDone}>
            Save
          </DialogActions>
        </Group>
      </Stack>
    </form>
  );
}

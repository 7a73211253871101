import { Button, Group, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { useSetApprovalLimit } from "../../api/operator-approvals";
import { useMay, useOperatorSession } from "../../api/operator-session";
import { Dialog } from "../../components/dialog";
import { DialogActions } from "../../components/dialog-actions";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { RupeeInput, rupeesError } from "../../components/rupee-input";
import { decimalRupees, formatPaise, parseRupees } from "../../format/money";
import { coveredCredits } from "./approval-labels";

/** The amount above which credits and debits need a second person. Administrators choose it, up to the setting. */
export function ApprovalLimit() {
  const policy = useOperatorSession().data?.approvals;
  const mayChange = useMay("manage_staff");
  const [isChanging, { open, close }] = useDisclosure(false);
  if (!policy) return null;
  const { creditsAbovePaise, creditsAboveMaxPaise } = policy;
  const isSet = typeof creditsAbovePaise === "number";
  return (
    <Group gap="sm" mb="sm">
      <Text>
        {isSet
          ? `A second person must approve ${coveredCredits(creditsAbovePaise)}.`
          : "Credits and debits need no second person."}
      </Text>
      {mayChange && (
        <Button size="xs" variant="default" onClick={open}>
          Change limit
        </Button>
      )}
      <Dialog opened={isChanging} onClose={close} title={<Text fw={600}>Limit without a second person</Text>}>
        <LimitForm paise={creditsAbovePaise ?? 0} maxPaise={creditsAboveMaxPaise} onDone={close} />
      </Dialog>
    </Group>
  );
}

interface LimitFormProps {
  paise: number;
  maxPaise: number | null | undefined;
  onDone: () => void;
}

function LimitForm({ paise, maxPaise, onDone }: LimitFormProps) {
  const set = useSetApprovalLimit();
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { creditsAbovePaise: decimalRupees(paise) },
    validate: { creditsAbovePaise: (text) => rupeesError(text, 0) },
  });
  const submit = form.onSubmit(({ creditsAbovePaise }) => {
    set.mutate(parseRupees(creditsAbovePaise) ?? 0, {
      onSuccess: () => {
        notifications.show({ message: "The limit is changed." });
        onDone();
      },
    });
  }, focusFirstError(form));
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <FormErrors error={set.error} form={form} />
        <RupeeInput
          label="Limit without a second person"
          description={
            typeof maxPaise === "number" ? `At most ${formatPaise(maxPaise)}, the setting.` : undefined
          }
          data-autofocus
          key={form.key("creditsAbovePaise")}
          {...form.getInputProps("creditsAbovePaise")}
        />
        <DialogActions isPending={set.isPending} onCancel={onDone}>
          Change limit
        </DialogActions>
      </Stack>
    </form>
  );
}

import { Button, Group, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { useSetApprovalLimit } from "../../api/operator-approvals";
import { useMay, useOperatorSession } from "../../api/operator-session";
import { Dialog, DialogStep } from "../../components/dialog";
import { DialogActions } from "../../components/dialog-actions";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { RupeeInput, rupeesError } from "../../components/rupee-input";
import { decimalRupees, formatPaise, parseRupees } from "../../format/money";
import { coveredCredits, notifySent, RELATED_RULE } from "./approval-labels";

/** The amount above which credits and debits need a second person. Administrators choose it, up to the setting. */
export function ApprovalLimit() {
  const policy = useOperatorSession().data?.approvals;
  const mayChange = useMay("manage_staff");
  const [isChanging, { open, close }] = useDisclosure(false);
  if (!policy) return null;
  const { creditsAbovePaise, creditsAboveMaxPaise } = policy;
  const isSet = typeof creditsAbovePaise === "number";
  const act = isSet ? "Change limit" : "Set a limit";
  return (
    <Group gap="sm" mb="sm">
      <Text>
        {isSet
          ? `A second person must approve ${coveredCredits(creditsAbovePaise)}.`
          : "Credits and debits need no second person."}
      </Text>
      {mayChange && (
        <Button size="xs" variant="default" onClick={open}>
          {act}
        </Button>
      )}
      <Dialog opened={isChanging} onClose={close} title={<Text fw={600}>Limit without a second person</Text>}>
        <LimitForm act={act} paise={creditsAbovePaise} settingPaise={creditsAboveMaxPaise} onDone={close} />
      </Dialog>
    </Group>
  );
}

interface LimitFormProps {
  act: string;
  /** The limit in force. */
  paise: number | null | undefined;
  settingPaise: number | null | undefined;
  onDone: () => void;
}

/** The form, or the question before the limit is removed. */
function LimitForm({ act, paise, settingPaise, onDone }: LimitFormProps) {
  const set = useSetApprovalLimit();
  const [isRemoving, setIsRemoving] = useState(false);
  const isSet = typeof paise === "number";
  const canRemove = isSet && paise !== settingPaise;
  const form = useForm({
    mode: "uncontrolled",
    initialValues: { creditsAbovePaise: isSet ? decimalRupees(paise) : "" },
    validate: { creditsAbovePaise: (text) => rupeesError(text, 0) },
  });
  const save = (limit: number | null) =>
    set.mutate(limit, {
      onSuccess: (approval) => {
        if (approval) notifySent(approval);
        else notifications.show({ message: isSet ? "The limit is changed." : "The limit is set." });
        onDone();
      },
    });
  const submit = form.onSubmit(
    (values) => save(parseRupees(values.creditsAbovePaise)),
    focusFirstError(form),
  );
  const back = () => {
    set.reset();
    setIsRemoving(false);
  };
  const remove = typeof settingPaise === "number" ? "Use the setting" : "Remove limit";
  if (isRemoving && canRemove) {
    return (
      <DialogStep key="remove">
        <Stack>
          <FormErrors error={set.error} form={form} />
          <Text>{removalText(paise, settingPaise)}</Text>
          <DialogActions isPending={set.isPending} onCancel={back} cancel="Back" onAct={() => save(null)}>
            {remove}
          </DialogActions>
        </Stack>
      </DialogStep>
    );
  }
  return (
    <DialogStep key="form">
      <form onSubmit={submit} noValidate>
        <Stack>
          <FormErrors error={set.error} form={form} />
          <RupeeInput
            label="Limit"
            description={`Amounts above this need a second person. 0 means all amounts.${
              typeof settingPaise === "number" ? ` At most ${formatPaise(settingPaise)}, the setting.` : ""
            }`}
            data-autofocus
            key={form.key("creditsAbovePaise")}
            {...form.getInputProps("creditsAbovePaise")}
          />
          <Text c="dimmed">
            {!isSet && "There is no limit now. Once there is one, "}
            {isSet ? "A" : "a"} second administrator must approve a higher limit, or its removal.{" "}
            {RELATED_RULE}
          </Text>
          <Group justify={canRemove ? "space-between" : "flex-end"} gap="xs">
            {canRemove && (
              <Button variant="subtle" onClick={() => setIsRemoving(true)} disabled={set.isPending} px={6}>
                {remove}
              </Button>
            )}
            <DialogActions isPending={set.isPending} onCancel={onDone}>
              {act}
            </DialogActions>
          </Group>
        </Stack>
      </form>
    </DialogStep>
  );
}

function removalText(paise: number, settingPaise: number | null | undefined): string {
  const afterwards =
    typeof settingPaise === "number"
      ? `the setting applies: a second person must approve ${coveredCredits(settingPaise)}`
      : "credits and debits need no second person";
  return `The limit is ${formatPaise(paise)} now. Without it, ${afterwards}. A second administrator must approve the removal.`;
}

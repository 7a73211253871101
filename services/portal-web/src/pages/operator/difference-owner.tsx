import { Alert, Button, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import type { Cash } from "../../api/cash";
import { useAssignDifference } from "../../api/operator-remittances";
import { useMay, useOperatorSession } from "../../api/operator-session";
import { Dialog } from "../../components/dialog";
import { DialogActions } from "../../components/dialog-actions";
import { Fact, Facts } from "../../components/facts";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { Money } from "../../components/money";
import { formatDay } from "../../format/day";

const OWNER_CHARS_MAX = 200;
const NOTE_CHARS_MAX = 500;

/** Who clears a discrepancy, or how it ended. */
export function ownerOf({ difference }: Cash): string {
  return difference?.resolution ? `Closed: ${difference.resolution}` : (difference?.owner ?? "Nobody");
}

/** The same, with the button that changes it. */
export function DifferenceOwner({ cash }: { cash: Cash }) {
  return (
    <Stack gap={4} align="flex-start">
      <Text size="sm">{ownerOf(cash)}</Text>
      <AssignDifference cash={cash} />
    </Stack>
  );
}

/** The button with its dialog, for those who may use it. */
export function AssignDifference({ cash }: { cash: Cash }) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const mayAssign = useMay("credit_wallets");
  const act = cash.difference?.resolution ? "Reopen" : "Assign";
  return (
    <>
      {mayAssign && (
        <Button
          size="compact-xs"
          variant="default"
          onClick={open}
          aria-label={`${act} ${cash.orderReference}`}
        >
          {act}
        </Button>
      )}
      <Dialog
        opened={isOpen}
        onClose={close}
        title={<Text fw={600}>Discrepancy of {cash.orderReference}</Text>}
      >
        <AssignForm cash={cash} onDone={close} />
      </Dialog>
    </>
  );
}

function AssignForm({ cash, onDone }: { cash: Cash; onDone: () => void }) {
  const { owner, note, resolution } = cash.difference ?? {};
  const { data: session } = useOperatorSession();
  const assign = useAssignDifference(cash.businessId, cash.orderId);
  const isClosed = Boolean(resolution);
  const form = useForm({
    initialValues: { owner: owner ?? session?.displayName ?? "", note: note ?? "", resolution: "" },
  });
  const save = (values: typeof form.values) =>
    assign.mutateAsync({ ...values, reopen: isClosed }).then(onDone, () => undefined);
  return (
    <form onSubmit={form.onSubmit(save, focusFirstError(form))} noValidate>
      <Stack>
        <FormErrors error={assign.error} form={form} />
        <Amounts cash={cash} />
        {isClosed && (
          <Alert role="note" color="gray" variant="light">
            Closed: {resolution}. If you reopen it, this reason is removed; the audit log keeps it.
          </Alert>
        )}
        <TextInput
          label="Owner"
          description="Who of your staff clears it."
          maxLength={OWNER_CHARS_MAX}
          data-autofocus
          {...form.getInputProps("owner")}
        />
        <Textarea
          label="Note"
          maxLength={NOTE_CHARS_MAX}
          autosize
          minRows={2}
          {...form.getInputProps("note")}
        />
        {!isClosed && (
          <Textarea
            label="Closed, because"
            description="Leave it empty while the discrepancy is open. Closed, it leaves the list; what a settled order lacks is no longer owed. If another transfer paid the rest, name its bank reference."
            maxLength={NOTE_CHARS_MAX}
            autosize
            minRows={2}
            {...form.getInputProps("resolution")}
          />
        )}
        <DialogActions isPending={assign.isPending} onCancel={onDone}>
          {isClosed ? "Reopen" : form.values.resolution.trim() ? "Close discrepancy" : "Save"}
        </DialogActions>
      </Stack>
    </form>
  );
}

/** What each step should have had, and had. */
function Amounts({ cash }: { cash: Cash }) {
  const { expectedPaise, collectedPaise, handedOverPaise, settledPaise, difference, remittance } = cash;
  const steps: [name: string, paise: number | null | undefined][] = [
    ["To collect", expectedPaise],
    ["Collected", collectedPaise],
    ["Handed over", handedOverPaise],
    ["Paid out", settledPaise],
    ["Paid out, the fleet reported", difference?.reportedPaise],
  ];
  return (
    <Facts align="end" compact>
      {steps.map(([name, paise]) => (
        <Fact key={name} name={name}>
          {paise == null ? null : <Money paise={paise} />}
        </Fact>
      ))}
      <Fact name="Bank transfer">
        {remittance && `${remittance.bankReference}, ${formatDay(remittance.paidOn)}`}
      </Fact>
    </Facts>
  );
}

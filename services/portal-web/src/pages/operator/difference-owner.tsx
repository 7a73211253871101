import { Button, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import type { Cash } from "../../api/cash";
import { useAssignDifference } from "../../api/operator-remittances";
import { useMay } from "../../api/operator-session";
import { Dialog } from "../../components/dialog";
import { DialogActions } from "../../components/dialog-actions";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { formatPaise } from "../../format/money";

const OWNER_CHARS_MAX = 200;
const NOTE_CHARS_MAX = 500;

/** Who clears a discrepancy, or how it ended. */
export function DifferenceOwner({ cash }: { cash: Cash }) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const mayAssign = useMay("credit_wallets");
  const { difference } = cash;
  return (
    <>
      {difference?.resolution ? (
        <Text size="sm">Closed: {difference.resolution}</Text>
      ) : (
        <Text size="sm">{difference?.owner ?? "Nobody"}</Text>
      )}
      {difference?.reportedPaise != null && (
        <Text size="xs" c="var(--tone-bad)">
          The fleet reported {formatPaise(difference.reportedPaise)} as settled
        </Text>
      )}
      {mayAssign && (
        <Button
          size="compact-xs"
          variant="default"
          mt={4}
          onClick={open}
          aria-label={`Assign ${cash.orderReference}`}
        >
          Assign
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
  const assign = useAssignDifference(cash.businessId, cash.orderId);
  const form = useForm({
    initialValues: { owner: owner ?? "", note: note ?? "", resolution: resolution ?? "" },
  });
  const save = (values: typeof form.values) => assign.mutateAsync(values).then(onDone, () => undefined);
  return (
    <form onSubmit={form.onSubmit(save, focusFirstError(form))} noValidate>
      <Stack>
        <FormErrors error={assign.error} form={form} />
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
        <Textarea
          label="Closed, because"
          description="Leave it empty while the discrepancy is open. A closed one leaves the list, and stays on the page of the business."
          maxLength={NOTE_CHARS_MAX}
          autosize
          minRows={2}
          {...form.getInputProps("resolution")}
        />
        <DialogActions isPending={assign.isPending} onCancel={onDone}>
          Save
        </DialogActions>
      </Stack>
    </form>
  );
}

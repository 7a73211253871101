import { Alert, Button, List, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { notifications } from "@mantine/notifications";
import { asFailure } from "../../api/failure";
import {
  type RemittanceCheck,
  useCreateRemittance,
  useRemittanceCheck,
} from "../../api/operator-remittances";
import { Dialog } from "../../components/dialog";
import { DialogActions } from "../../components/dialog-actions";
import { ErrorState } from "../../components/error-state";
import { Fact, Facts } from "../../components/facts";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { Loading } from "../../components/loading";
import { Money } from "../../components/money";
import { orderCount } from "../../format/cash-labels";
import { formatPaise } from "../../format/money";

const REFERENCE_CHARS_MAX = 64;
/** Lines that the dialog names; it counts the others. */
const LISTED_MAX = 20;

interface RemittanceDialogProps {
  businessId: string;
  name: string;
  /** The orders, as lines of a file. */
  csv: string | null;
  onClose: () => void;
}

/** Checks the orders, then records the bank transfer. */
export function RemittanceDialog({ businessId, name, csv, onClose }: RemittanceDialogProps) {
  return (
    <Dialog
      opened={csv !== null}
      onClose={onClose}
      title={<Text fw={600}>Record a bank transfer to {name}</Text>}
    >
      {csv !== null && <Checked businessId={businessId} csv={csv} onClose={onClose} />}
    </Dialog>
  );
}

interface StepProps {
  businessId: string;
  csv: string;
  onClose: () => void;
}

function Checked({ businessId, csv, onClose }: StepProps) {
  const { data: check, error, refetch } = useRemittanceCheck(businessId, csv);
  if (error) return <Unreadable error={error} onRetry={() => refetch()} />;
  if (!check) return <Loading what="Checking the orders" height={160} />;
  if (check.refused.length > 0) return <Refused check={check} onClose={onClose} />;
  return <Transfer businessId={businessId} csv={csv} check={check} onClose={onClose} />;
}

/** Every line of the file that cannot be read, or why there is no answer. */
function Unreadable({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const form = useForm({ initialValues: {} });
  if (asFailure(error).fieldErrors.length > 0) return <FormErrors error={error} form={form} />;
  return <ErrorState error={error} title="The orders could not be checked" onRetry={onRetry} />;
}

function Refused({ check, onClose }: { check: RemittanceCheck; onClose: () => void }) {
  const { refused, orders, totalPaise } = check;
  return (
    <Stack>
      <Alert role="alert" color="red" variant="light">
        <Text>
          {refused.length === 1 ? "One line" : `${refused.length} lines`} cannot be settled, so nothing was.
          Correct the file and upload it again.
          {orders.length > 0 &&
            ` The rest would settle ${formatPaise(totalPaise)} for ${orderCount(orders.length)}.`}
        </Text>
        <List size="sm" mt={6}>
          {refused.slice(0, LISTED_MAX).map((line) => (
            <List.Item key={line.position}>
              Line {line.position}, {line.message}
            </List.Item>
          ))}
          {refused.length > LISTED_MAX && <List.Item>And {refused.length - LISTED_MAX} more.</List.Item>}
        </List>
      </Alert>
      <Button variant="default" onClick={onClose} style={{ alignSelf: "flex-end" }}>
        Close
      </Button>
    </Stack>
  );
}

function Transfer({ businessId, csv, check, onClose }: StepProps & { check: RemittanceCheck }) {
  const create = useCreateRemittance(businessId);
  const form = useForm({
    initialValues: { bankReference: "", paidOn: "" },
    validate: {
      bankReference: (text) => (text.trim() === "" ? "Enter the bank’s reference." : null),
      paidOn: (text) => (text === "" ? "Choose the day of the transfer." : null),
    },
  });
  const record = ({ bankReference, paidOn }: typeof form.values) =>
    create.mutateAsync({ bankReference: bankReference.trim(), paidOn, csv }).then(
      (made) => {
        onClose();
        const paid = `${formatPaise(made.totalPaise)} for ${orderCount(made.orders)}`;
        const message = made.alreadyRecorded
          ? `This transfer was recorded before: ${paid}.`
          : `Recorded: ${paid}.`;
        notifications.show({ message });
      },
      // The form shows the error.
      () => undefined,
    );
  return (
    <form onSubmit={form.onSubmit(record, focusFirstError(form))} noValidate>
      <Stack>
        <FormErrors error={create.error} form={form} />
        <Facts>
          <Fact name="Orders">{check.orders.length}</Fact>
          <Fact name="Total">
            <Money paise={check.totalPaise} />
          </Fact>
        </Facts>
        <Differences check={check} />
        <TextInput
          label="Bank reference"
          description="Of the transfer, such as its UTR. The business sees it."
          maxLength={REFERENCE_CHARS_MAX}
          autoComplete="off"
          data-autofocus
          {...form.getInputProps("bankReference")}
        />
        <TextInput type="date" label="Day of the transfer" {...form.getInputProps("paidOn")} />
        <Alert role="note" color="gray" variant="light">
          The transfer must be exactly {formatPaise(check.totalPaise)}. Settled orders cannot be changed.
        </Alert>
        <DialogActions isPending={create.isPending} onCancel={onClose}>
          {`Record ${formatPaise(check.totalPaise)}`}
        </DialogActions>
      </Stack>
    </form>
  );
}

/** Orders with another amount than was handed over. */
function Differences({ check }: { check: RemittanceCheck }) {
  const differing = check.orders.filter((order) => order.amountPaise !== order.handedOverPaise);
  if (differing.length === 0) return null;
  return (
    <Alert role="status" color="yellow" variant="light">
      <Text>
        {differing.length === 1 ? "One order has" : `${differing.length} orders have`} another amount than was
        handed over:
      </Text>
      <List size="sm" mt={6}>
        {differing.slice(0, LISTED_MAX).map((order) => (
          <List.Item key={order.orderId}>
            {order.orderReference}: {formatPaise(order.amountPaise)} instead of{" "}
            {formatPaise(order.handedOverPaise)} ({order.note})
          </List.Item>
        ))}
        {differing.length > LISTED_MAX && <List.Item>And {differing.length - LISTED_MAX} more.</List.Item>}
      </List>
    </Alert>
  );
}

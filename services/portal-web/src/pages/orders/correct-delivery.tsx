import { Button, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { type Correction, useCorrectDelivery } from "../../api/after-failure";
import { ApiFailure } from "../../api/failure";
import type { Order } from "../../api/orders";
import { Dialog } from "../../components/dialog";
import { DialogActions } from "../../components/dialog-actions";
import { FormErrors, focusFirstError } from "../../components/form-errors";

/** A button that corrects the phone and the address of an order. */
export function CorrectDelivery({ order }: { order: Order }) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" size="xs" onClick={open}>
        Correct address
      </Button>
      <Dialog opened={isOpen} onClose={close} title={<Text fw={600}>Correct the phone or address</Text>}>
        {isOpen && <CorrectionForm order={order} onDone={close} />}
      </Dialog>
    </>
  );
}

type Values = ReturnType<typeof valuesOf>;

function valuesOf({ customer, delivery }: Order) {
  return {
    phone: customer.phone ?? "",
    addressLine1: delivery.addressLine1 ?? "",
    addressLine2: delivery.addressLine2 ?? "",
    landmark: delivery.landmark ?? "",
    city: delivery.city ?? "",
    state: delivery.state ?? "",
    pincode: delivery.pincode ?? "",
  };
}

/** Coordinates and the address in one text belong to the old address. */
function correctionOf({ phone, ...address }: Values, before: Values): Correction {
  const { phone: phoneBefore, ...addressBefore } = before;
  const isMoved = JSON.stringify(address) !== JSON.stringify(addressBefore);
  return {
    phone: phone === phoneBefore ? undefined : phone,
    delivery: isMoved ? (address as Correction["delivery"]) : undefined,
  };
}

const isGiven = (message: string) => (text: string) => (text.trim() ? null : message);
const RULES = {
  phone: isGiven("Enter a phone number that drivers can call."),
  addressLine1: isGiven("Enter the building and street."),
  city: isGiven("Enter the city."),
  state: isGiven("Enter the state."),
  pincode: isGiven("Enter six digits, such as 560001."),
};

function CorrectionForm({ order, onDone }: { order: Order; onDone: () => void }) {
  const correct = useCorrectDelivery(order.id);
  const before = valuesOf(order);
  const form = useForm({ initialValues: before, validate: RULES });
  const submit = form.onSubmit(
    (values) => correct.mutate(correctionOf(values, before), { onSuccess: onDone }),
    focusFirstError(form),
  );
  const field = (name: keyof Values, label: string, isRequired: boolean) => (
    <TextInput label={label} withAsterisk={isRequired} maxLength={300} {...form.getInputProps(name)} />
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <FormErrors error={ofForm(correct.error)} form={form} />
        {field("phone", "Phone", true)}
        {field("addressLine1", "Address line 1", true)}
        {field("addressLine2", "Address line 2", false)}
        {field("landmark", "Landmark", false)}
        <SimpleGrid cols={{ base: 1, xs: 3 }}>
          {field("city", "City", true)}
          {field("state", "State", true)}
          {field("pincode", "PIN code", true)}
        </SimpleGrid>
        <DialogActions isPending={correct.isPending} disabled={!form.isDirty()} onCancel={onDone}>
          Save
        </DialogActions>
      </Stack>
    </form>
  );
}

const SECTION = /^delivery\./;
/** The same failure for as long as the call's. */
const failures = new WeakMap<Error, ApiFailure>();

/** The failure with the form's names of the address's fields. */
function ofForm(error: Error | null): Error | null {
  if (!(error instanceof ApiFailure)) return error;
  const known = failures.get(error);
  if (known) return known;
  const errors = error.fieldErrors.map((fieldError) => ({
    ...fieldError,
    field: fieldError.field.replace(SECTION, ""),
    message: fieldError.message.replace(SECTION, ""),
  }));
  const failure = new ApiFailure(error.status, { ...error.body, errors });
  failures.set(error, failure);
  return failure;
}

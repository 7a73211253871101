import { Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { type Order, useCancelOrder } from "../../api/orders";
import { ConfirmButton } from "../../components/confirm-button";

const REASON_CHARS_MAX = 200;

interface CancelReasonProps {
  value: string;
  onChange: (reason: string) => void;
}

export function CancelReason({ value, onChange }: CancelReasonProps) {
  return (
    <TextInput
      label="Reason"
      description="Optional. Shown in the timeline and in the webhook."
      value={value}
      maxLength={REASON_CHARS_MAX}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

export function CancelOrder({ order }: { order: Order }) {
  const cancel = useCancelOrder(order.id);
  const [reason, setReason] = useState("");
  return (
    <ConfirmButton
      title="Cancel this order?"
      description={
        <Stack gap="sm">
          <span>
            {order.mode === "live"
              ? "The parcel is not picked up, and the delivery fee is refunded to your wallet. This cannot be undone."
              : "The test order is cancelled like a live order. This cannot be undone."}
          </span>
          <CancelReason value={reason} onChange={setReason} />
        </Stack>
      }
      confirm="Cancel order"
      dismiss="Keep order"
      onConfirm={() => cancel.mutateAsync(reason.trim())}
    >
      Cancel order
    </ConfirmButton>
  );
}

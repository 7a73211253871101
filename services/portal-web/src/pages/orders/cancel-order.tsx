import { Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { type Order, useCancelOrder } from "../../api/orders";
import { ConfirmButton } from "../../components/confirm-button";

const REASON_CHARS_MAX = 200;

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
              ? "Nobody will pick the parcel up, and the delivery fee goes back to your wallet. This cannot be undone."
              : "The test order ends here, as a live one would. This cannot be undone."}
          </span>
          <TextInput
            label="Reason"
            description="Optional. It stands in the timeline and in the webhook."
            value={reason}
            maxLength={REASON_CHARS_MAX}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
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

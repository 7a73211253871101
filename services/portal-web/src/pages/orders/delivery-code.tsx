import { Button, Group, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useDeliveryCode } from "../../api/orders";
import { CopyButton } from "../../components/copy-button";
import { Dialog } from "../../components/dialog";
import { ErrorState } from "../../components/error-state";

/** A button that issues the order's delivery code, or shows the issued one. */
export function DeliveryCode({ orderId }: { orderId: string }) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" size="xs" onClick={open}>
        Delivery code
      </Button>
      <Dialog opened={isOpen} onClose={close} title={<Text fw={600}>Delivery code</Text>}>
        {isOpen && <Code orderId={orderId} />}
      </Dialog>
    </>
  );
}

function Code({ orderId }: { orderId: string }) {
  const { mutate: issue, data, error, isPending } = useDeliveryCode(orderId);
  return (
    <Stack>
      <Text>
        The customer tells this code to the driver, which proves the delivery. It is not sent to anybody: give
        it to the customer yourself. The audit log names who has seen it.
      </Text>
      {error && <ErrorState error={error} title="There is no delivery code" />}
      {data ? (
        <Group>
          <Text fz="xl" fw={600} role="status">
            {data.deliveryCode}
          </Text>
          <CopyButton value={data.deliveryCode} label="Copy the delivery code" />
        </Group>
      ) : (
        <Button onClick={() => issue()} loading={isPending} style={{ alignSelf: "flex-start" }}>
          Show the code
        </Button>
      )}
    </Stack>
  );
}

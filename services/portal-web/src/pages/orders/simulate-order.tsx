import { Group, Text, VisuallyHidden } from "@mantine/core";
import { IconPlayerTrackNext } from "@tabler/icons-react";
import { asFailure } from "../../api/failure";
import { type Order, useSimulate } from "../../api/orders";
import { CallButton } from "../../components/call-button";
import { ErrorState } from "../../components/error-state";
import { Section } from "../../components/section";
import { type EventKind, eventLabel } from "../../format/event-labels";
import { canRunToEnd, nextEvents } from "./next-events";

interface SimulateOrderProps {
  order: Order;
  pickedUp: boolean;
}

const RUN = "auto";

/** Simulates a driver for a test order. The webhooks are real. */
export function SimulateOrder({ order, pickedUp }: SimulateOrderProps) {
  const simulate = useSimulate(order.id);
  const moves = nextEvents(order, pickedUp);
  const isRunning = simulate.variables === RUN && simulate.isSuccess && canRunToEnd(order);
  return (
    <Section
      title="Simulate"
      description="Test orders get no driver. Simulate each step yourself: it sends real, signed webhooks."
    >
      {moves.length === 0 ? (
        <Text c="dimmed">This order has ended. No further steps are possible.</Text>
      ) : (
        <Group gap="xs">
          {moves.map((move) => (
            <Step key={move} event={move} simulate={simulate} isRunning={isRunning} />
          ))}
          {canRunToEnd(order) && (
            <CallButton
              size="xs"
              leftSection={<IconPlayerTrackNext size={14} aria-hidden />}
              loading={isRunning || (simulate.isPending && simulate.variables === RUN)}
              disabled={simulate.isPending}
              onClick={() => simulate.mutate(RUN)}
            >
              Run to the end
            </CallButton>
          )}
        </Group>
      )}
      <VisuallyHidden role="status">{isRunning ? "The simulation is running" : ""}</VisuallyHidden>
      {isRunning && (
        <Text c="dimmed" mt="xs" size="xs">
          Simulating about one step per second.
        </Text>
      )}
      {simulate.error && (
        <div style={{ marginTop: 12 }}>
          <ErrorState error={asFailure(simulate.error)} title="The step failed" />
        </div>
      )}
    </Section>
  );
}

interface StepProps {
  event: EventKind;
  simulate: ReturnType<typeof useSimulate>;
  isRunning: boolean;
}

function Step({ event, simulate, isRunning }: StepProps) {
  return (
    <CallButton
      size="xs"
      variant="default"
      loading={simulate.isPending && simulate.variables === event}
      disabled={simulate.isPending || isRunning}
      onClick={() => simulate.mutate(event)}
    >
      {eventLabel(event)}
    </CallButton>
  );
}

import { Button, Group, Text, VisuallyHidden } from "@mantine/core";
import { IconPlayerTrackNext } from "@tabler/icons-react";
import { asFailure } from "../../api/failure";
import { type Order, useSimulate } from "../../api/orders";
import { ErrorState } from "../../components/error-state";
import { Section } from "../../components/section";
import { type EventKind, eventLabel } from "../../format/event-words";
import { canRunToEnd, nextMoves } from "./moves";

interface SimulateOrderProps {
  order: Order;
  pickedUp: boolean;
}

const RUN = "auto";

/** A test order is moved on by hand, as a driver would; its webhooks are real. */
export function SimulateOrder({ order, pickedUp }: SimulateOrderProps) {
  const simulate = useSimulate(order.id);
  const moves = nextMoves(order, pickedUp);
  const isRunning = simulate.variables === RUN && simulate.isSuccess && canRunToEnd(order);
  return (
    <Section
      title="Simulate"
      description="This is a test order: no driver comes. Move it on yourself; each step sends its real, signed webhooks."
    >
      {moves.length === 0 ? (
        <Text c="dimmed">The order has come to its end. Nothing can follow.</Text>
      ) : (
        <Group gap="xs">
          {moves.map((move) => (
            <Step key={move} event={move} simulate={simulate} isRunning={isRunning} />
          ))}
          {canRunToEnd(order) && (
            <Button
              size="xs"
              leftSection={<IconPlayerTrackNext size={14} aria-hidden />}
              loading={isRunning || (simulate.isPending && simulate.variables === RUN)}
              disabled={simulate.isPending}
              onClick={() => simulate.mutate(RUN)}
            >
              Run to the end
            </Button>
          )}
        </Group>
      )}
      <VisuallyHidden role="status">{isRunning ? "The order is moving on by itself" : ""}</VisuallyHidden>
      {isRunning && (
        <Text c="dimmed" mt="xs" size="xs">
          Moving on by itself, about a step a second, until it is delivered.
        </Text>
      )}
      {simulate.error && (
        <div style={{ marginTop: 12 }}>
          <ErrorState error={asFailure(simulate.error)} title="That step was not taken" />
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
    <Button
      size="xs"
      variant="default"
      loading={simulate.isPending && simulate.variables === event}
      disabled={simulate.isPending || isRunning}
      onClick={() => simulate.mutate(event)}
    >
      {eventLabel(event)}
    </Button>
  );
}

import { Alert, Text } from "@mantine/core";
import type { Closing } from "../api/types";
import { Time } from "./time";

interface ClosingStateProps {
  closing: Closing;
  /** Who reads it calls the operator so: “your delivery company”. */
  operator: string;
}

/** Whether a business is being closed; nothing if nobody closes it. */
export function ClosingState({ closing, operator }: ClosingStateProps) {
  const { state, begunAt, begunBy, reason, endingAt, completedAt, eraseAfter, erasedAt } = closing;
  if (state === "not_begun") return null;
  const isClosed = state === "completed";
  return (
    <Alert
      role="status"
      color={isClosed ? "gray" : "yellow"}
      variant="light"
      title={isClosed ? "This business is closed" : "This business is being closed"}
    >
      <Text size="sm">
        Begun on <Time at={begunAt} /> by {begunBy === "operator" ? operator : "an owner"}.
        {!isClosed && endingAt && (
          <>
            {" "}
            Its completion began on <Time at={endingAt} />: keys and endpoints are being ended, and it can no
            longer be withdrawn.
          </>
        )}
        {isClosed && (
          <>
            {" "}
            Closed on <Time at={completedAt} />.{" "}
            {erasedAt ? (
              <>
                Its data was erased on <Time at={erasedAt} />.
              </>
            ) : (
              <>
                The law keeps its books until <Time at={eraseAfter} />, when its users, contact and notes are
                erased.
              </>
            )}
          </>
        )}
      </Text>
      {reason && (
        <Text size="sm" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
          Reason: {reason}
        </Text>
      )}
    </Alert>
  );
}

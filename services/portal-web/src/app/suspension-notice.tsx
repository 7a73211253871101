import { Alert, Text } from "@mantine/core";
import { IconBan } from "@tabler/icons-react";
import { useIsClosed, useIsSuspended } from "./use-is-suspended";

/** Tells all users of a closed or suspended business, above each page. */
export function SuspensionNotice() {
  const [isClosed, isSuspended] = [useIsClosed(), useIsSuspended()];
  if (!isClosed && !isSuspended) return null;
  const title = isClosed ? "Your business is closed" : "Your account is suspended";
  return (
    <Alert
      role="region"
      aria-label={title}
      title={title}
      color={isClosed ? "gray" : "red"}
      variant="light"
      icon={<IconBan aria-hidden />}
      mb="lg"
    >
      <Text size="sm">
        {isClosed
          ? "It takes no orders and no payments any more. What it had can still be read."
          : "New live orders are refused. Placed orders continue, and test orders work. To lift the suspension, contact your delivery company."}
      </Text>
    </Alert>
  );
}

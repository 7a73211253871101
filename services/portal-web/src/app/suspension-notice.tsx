import { Alert, Text } from "@mantine/core";
import { IconBan } from "@tabler/icons-react";
import { useIsSuspended } from "./use-is-suspended";

/** Tells all users of a suspended business, above each page. */
export function SuspensionNotice() {
  if (!useIsSuspended()) return null;
  return (
    <Alert
      role="region"
      aria-label="Your account is suspended"
      title="Your account is suspended"
      color="red"
      variant="light"
      icon={<IconBan aria-hidden />}
      mb="lg"
    >
      <Text size="sm">
        New live orders are refused. Placed orders continue, and test orders work. To lift the suspension,
        contact your delivery company.
      </Text>
    </Alert>
  );
}

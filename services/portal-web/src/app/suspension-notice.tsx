import { Alert, Anchor, Text } from "@mantine/core";
import { IconBan } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Link } from "react-router-dom";
import { useMay } from "./session";
import { useIsClosed, useIsClosing, useIsSuspended } from "./use-is-suspended";

/** Tells all users of a business that is suspended, being closed or closed, above each page. */
export function SuspensionNotice() {
  const [isClosed, isClosing, isSuspended] = [useIsClosed(), useIsClosing(), useIsSuspended()];
  const mayClose = useMay("manage_business");
  if (isClosed)
    return (
      <Notice title="Your business is closed" color="gray">
        It takes no orders and no payments any more. What it had can still be read.
      </Notice>
    );
  return (
    <>
      {isClosing && (
        <Notice title="Your business is being closed" color="yellow">
          New live orders, keys and endpoints are refused. Placed orders continue.{" "}
          {mayClose && (
            <Anchor component={Link} to="/account/closing" size="sm">
              Open its closing
            </Anchor>
          )}
        </Notice>
      )}
      {isSuspended && (
        <Notice title="Your account is suspended" color="red">
          New live orders are refused. Placed orders continue, and test orders work. To lift the suspension,
          contact your delivery company.
        </Notice>
      )}
    </>
  );
}

interface NoticeProps {
  title: string;
  color: string;
  children: ReactNode;
}

function Notice({ title, color, children }: NoticeProps) {
  return (
    <Alert
      role="region"
      aria-label={title}
      title={title}
      color={color}
      variant="light"
      icon={<IconBan aria-hidden />}
      mb="lg"
    >
      <Text size="sm">{children}</Text>
    </Alert>
  );
}

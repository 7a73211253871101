import { Alert, Anchor, List } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Link } from "react-router-dom";
import { type Endpoint, useEndpoints } from "../../api/webhooks";
import { Time } from "../../components/time";
import { hostAndPath } from "../../format/url";
import { acceptsForgeries } from "./labels";

/** The endpoints that fail, or accept forged webhooks, each with a link. Renders nothing if there are none. */
export function FailingEndpoints() {
  const failing = useEndpoints().rows.filter(needsAttention);
  if (failing.length === 0) return null;
  return (
    <Alert
      role="status"
      color="red"
      variant="light"
      icon={<IconAlertTriangle aria-hidden />}
      title={
        failing.length === 1
          ? "A webhook endpoint needs attention"
          : `${failing.length} webhook endpoints need attention`
      }
    >
      <List size="sm" listStyleType="none" spacing={4}>
        {failing.map((endpoint) => (
          <List.Item key={endpoint.id} style={{ overflowWrap: "anywhere" }}>
            <Anchor component={Link} to={`/webhooks/${endpoint.id}`} size="sm" fw={500} title={endpoint.url}>
              {hostAndPath(endpoint.url)}
            </Anchor>{" "}
            {trouble(endpoint)}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

function needsAttention(endpoint: Endpoint): boolean {
  const { status, connectionTest } = endpoint;
  return (
    status === "failing" ||
    status === "disabled" ||
    (status === "active" && connectionTest === "failed") ||
    acceptsForgeries(endpoint)
  );
}

function trouble(endpoint: Endpoint): ReactNode {
  const { status, trouble } = endpoint;
  if (status === "disabled") return "is disabled: nothing is sent to it until you enable it.";
  if (status === "failing" && trouble?.failingSince) {
    return (
      <>
        fails every attempt. First failure: <Time at={trouble.failingSince} relative />.
      </>
    );
  }
  if (status === "failing") return "fails every attempt.";
  return acceptsForgeries(endpoint)
    ? "accepts forged signatures, so anyone can post to it."
    : "failed its latest test.";
}

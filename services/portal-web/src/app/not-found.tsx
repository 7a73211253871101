import { Button } from "@mantine/core";
import { IconMapOff } from "@tabler/icons-react";
import { Link } from "react-router-dom";
import { EmptyState } from "../components/empty-state";
import { PageHeader } from "../components/page-header";

export function NotFound() {
  return (
    <>
      <PageHeader title="Page not found" />
      <EmptyState
        icon={<IconMapOff size={28} />}
        title="There is no page at this address"
        action={
          <Button component={Link} to="/" variant="default">
            Go to the overview
          </Button>
        }
      >
        It may have moved, or the link was cut off.
      </EmptyState>
    </>
  );
}

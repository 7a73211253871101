import { Button } from "@mantine/core";
import { IconMapOff } from "@tabler/icons-react";
import { Link } from "react-router-dom";
import { EmptyState } from "../components/empty-state";
import { PageHeader } from "../components/page-header";

interface NotFoundProps {
  /** Where the button leads. */
  home: string;
  /** The button's label: “Go to the overview”. */
  wayHome: string;
}

export function NotFound({ home, wayHome }: NotFoundProps) {
  return (
    <>
      <PageHeader title="Page not found" />
      <EmptyState
        icon={<IconMapOff size={28} />}
        title="No page at this address"
        action={
          <Button component={Link} to={home} variant="default">
            {wayHome}
          </Button>
        }
      >
        The page may have moved, or the link is incomplete.
      </EmptyState>
    </>
  );
}

import { Button } from "@mantine/core";
import { IconMapOff } from "@tabler/icons-react";
import { Link } from "react-router-dom";
import { EmptyState } from "../components/empty-state";
import { PageHeader } from "../components/page-header";

interface NotFoundProps {
  /** Where the button leads. */
  home: string;
  /** The button's label: “Go to the overview”. */
  homeLabel: string;
}

export function NotFound({ home, homeLabel }: NotFoundProps) {
  return (
    <>
      <PageHeader title="Page not found" />
      <EmptyState
        icon={<IconMapOff size={28} />}
        title="No page at this address"
        action={
          <Button component={Link} to={home} variant="default">
            {homeLabel}
          </Button>
        }
      >
        The page may have moved, or the link is incomplete.
      </EmptyState>
    </>
  );
}

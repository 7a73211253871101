import { Button } from "@mantine/core";
import { IconMapOff } from "@tabler/icons-react";
import { Link } from "react-router-dom";
import { EmptyState } from "../components/empty-state";
import { PageHeader } from "../components/page-header";

interface NotFoundProps {
  /** The page to go on from. */
  home: string;
  /** What leads there: “Go to the overview”. */
  wayHome: string;
}

export function NotFound({ home, wayHome }: NotFoundProps) {
  return (
    <>
      <PageHeader title="Page not found" />
      <EmptyState
        icon={<IconMapOff size={28} />}
        title="There is no page at this address"
        action={
          <Button component={Link} to={home} variant="default">
            {wayHome}
          </Button>
        }
      >
        It may have moved, or the link was cut off.
      </EmptyState>
    </>
  );
}

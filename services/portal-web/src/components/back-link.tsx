import { Anchor } from "@mantine/core";
import { IconChevronLeft } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Link } from "react-router-dom";

/** From a detail page back to its list. */
export function BackLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Anchor
      component={Link}
      to={to}
      size="sm"
      c="dimmed"
      mb="xs"
      style={{ display: "inline-flex", alignItems: "center", gap: 4 }}
    >
      <IconChevronLeft size={15} aria-hidden />
      {children}
    </Anchor>
  );
}

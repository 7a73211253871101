import { IconLock } from "@tabler/icons-react";
import { EmptyState } from "../components/empty-state";
import { ROLE_LABELS, useSession } from "./session";

/** Shown instead of a page that the user's role cannot open. */
export function NotForRole({ what }: { what: string }) {
  const { role } = useSession();
  return (
    <EmptyState icon={<IconLock size={26} />} title={what}>
      You are logged in as {ROLE_LABELS[role].toLowerCase()}. Ask an owner of your business for another role.
    </EmptyState>
  );
}

import { IconLock } from "@tabler/icons-react";
import { ROLE_LABELS, useSession } from "../../app/session";
import { EmptyState } from "../../components/empty-state";

/** In the place of a page that this user's role does not show. */
export function NotForRole({ what }: { what: string }) {
  const { role } = useSession();
  return (
    <EmptyState icon={<IconLock size={26} />} title={what}>
      You are logged in as {ROLE_LABELS[role].toLowerCase()}. Ask an owner of your business if you need more.
    </EmptyState>
  );
}

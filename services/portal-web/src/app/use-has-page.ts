import { hasPage, permissionOf } from "./navigation";
import { may, useSession } from "./session";

/** Whether the side bar has a page for the user's role. */
export function useHasPage(): (path: string) => boolean {
  const session = useSession();
  return (path) => {
    const permission = permissionOf(path);
    return hasPage(path) && (!permission || may(session, permission));
  };
}

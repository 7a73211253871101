import { may, useSession } from "./session";

/** What the search finds orders by. Roles that see phones masked cannot search for them. */
export function useSearchHint(): string {
  const phone = may(useSession(), "read_customers") ? "phone, " : "";
  return `Name, ${phone}city, PIN, reference, code or date`;
}

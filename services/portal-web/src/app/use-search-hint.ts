import { useMay } from "./session";

/** What the search finds orders by, and what it does not. Roles that see phones masked cannot search for them. */
export function useSearchHint(): { placeholder: string; limits: string } {
  const seesPhones = useMay("read_customers");
  return {
    placeholder: `Name, ${seesPhones ? "phone, " : ""}city, PIN, reference, code or date`,
    limits: seesPhones ? "" : "Your role cannot search for phones.",
  };
}

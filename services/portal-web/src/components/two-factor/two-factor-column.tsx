import type { Column } from "../data-table";
import { StatusBadge } from "../status-badge";

interface Person {
  secondFactor: boolean;
  singleSignOn?: boolean;
}

/** Who has two-factor authentication. The identity provider decides for people who log in there. */
export function twoFactorColumn<Row extends Person>(): Column<Row> {
  return {
    key: "two-factor",
    header: "Two-factor",
    render: ({ secondFactor, singleSignOn }) => {
      if (secondFactor) return <StatusBadge tone="good" label="On" />;
      return singleSignOn ? "Single sign-on" : <StatusBadge tone="idle" label="Off" />;
    },
  };
}

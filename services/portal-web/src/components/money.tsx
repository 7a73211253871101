import { formatPaise } from "../format/money";

/** An amount of paise as rupees, with digits that stand below each other. */
export function Money({ paise }: { paise: number }) {
  return (
    <span className="numbers" style={{ whiteSpace: "nowrap" }}>
      {formatPaise(paise)}
    </span>
  );
}

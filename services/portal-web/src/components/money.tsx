import { formatMovement, formatPaise } from "../format/money";
import type { Column } from "./data-table";

interface MoneyProps {
  paise: number;
  /** Always shows the sign: for movements, not for balances. */
  moves?: boolean;
}

/** An amount of paise in rupees, with digits of equal width. */
export function Money({ paise, moves = false }: MoneyProps) {
  return (
    <span className="numbers" style={{ whiteSpace: "nowrap" }}>
      {moves ? formatMovement(paise) : formatPaise(paise)}
    </span>
  );
}

/** A column of amounts, with a dash for an unknown one. */
export function moneyColumn<Row>(
  key: string,
  header: string,
  width: string,
  pick: (row: Row) => number | null | undefined,
): Column<Row> {
  const render = (row: Row) => {
    const paise = pick(row);
    return paise == null ? "–" : <Money paise={paise} />;
  };
  return { key, header, width, align: "end", render };
}

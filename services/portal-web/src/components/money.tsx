import { formatMovement, formatPaise } from "../format/money";

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

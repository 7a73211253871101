import { formatMovement, formatPaise } from "../format/money";

interface MoneyProps {
  paise: number;
  /** With a sign either way: money that moves, and not what is there. */
  moves?: boolean;
}

/** An amount of paise as rupees, with digits that stand below each other. */
export function Money({ paise, moves = false }: MoneyProps) {
  return (
    <span className="numbers" style={{ whiteSpace: "nowrap" }}>
      {moves ? formatMovement(paise) : formatPaise(paise)}
    </span>
  );
}

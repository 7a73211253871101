import { Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { Fact, Facts } from "../../components/facts";
import { Money } from "../../components/money";
import { RupeeInput } from "../../components/rupee-input";
import { parseRupees } from "../../format/money";
import { rupeesInWords } from "../../format/rupees-in-words";

/** Amounts above ₹1,00,000 are typed again. */
const TYPED_AGAIN_ABOVE_PAISE = 10_000_000;

/** A credit or debit of a wallet, and the wallet before it. */
export interface Movement {
  paise: number;
  isDebit: boolean;
  /** Whether it takes an entry back. */
  takesBack: boolean;
  /** `undefined` while it is unknown. */
  balancePaise?: number | null;
  owedPaise?: number | null;
}

interface AmountCheckProps {
  movement: Movement;
  /** The amount as typed again. */
  again: string;
  onAgain: (text: string) => void;
  /** Whether it is only sent for approval: the wallet may change before somebody approves it. */
  isRequest?: boolean;
  /** More facts about the movement. */
  children?: ReactNode;
}

/** Lets a person check an amount before it moves. */
export function AmountCheck({ movement, again, onAgain, isRequest = false, children }: AmountCheckProps) {
  const { paise, balancePaise } = movement;
  const owedPaise = movement.owedPaise ?? 0;
  const after = isRequest ? null : afterwards(movement);
  return (
    <Stack gap="sm">
      <Facts>
        <Fact name={movementVerb(movement)}>
          <Money paise={paise} />
        </Fact>
        <Fact name="In words">{rupeesInWords(paise)}</Fact>
        {children}
        <Fact name="Balance now">{typeof balancePaise === "number" && <Money paise={balancePaise} />}</Fact>
        <Fact name="Owed now">{owedPaise > 0 && <Money paise={owedPaise} />}</Fact>
        <Fact name="Balance afterwards">{after && <Money paise={after.balancePaise} />}</Fact>
        <Fact name="Owed afterwards">
          {after && (after.owedPaise > 0 || owedPaise > 0) && <Money paise={after.owedPaise} />}
        </Fact>
      </Facts>
      {isTypedAgain(paise) && (
        <RupeeInput
          label="Type the amount again"
          data-autofocus
          value={again}
          onChange={(event) => onAgain(event.currentTarget.value)}
        />
      )}
    </Stack>
  );
}

export type MovementVerb = "Credit" | "Debit" | "Take back";

export function movementVerb({ isDebit, takesBack }: Movement): MovementVerb {
  if (takesBack) return "Take back";
  return isDebit ? "Debit" : "Credit";
}

/** Whether the amount was typed again, if it must be. */
export function isChecked({ paise }: Movement, again: string): boolean {
  return !isTypedAgain(paise) || parseRupees(again) === paise;
}

function isTypedAgain(paise: number): boolean {
  return paise > TYPED_AGAIN_ABOVE_PAISE;
}

/** What the balance does not cover of a debit. */
export function uncoveredPaise(paise: number, balancePaise: number): number {
  return Math.max(0, paise - balancePaise);
}

/** What comes in pays the debt first; what the balance does not cover is owed. */
function afterwards({ paise, isDebit, balancePaise, owedPaise }: Movement) {
  if (typeof balancePaise !== "number" || typeof owedPaise !== "number") return null;
  if (isDebit) {
    const lacking = uncoveredPaise(paise, balancePaise);
    return { balancePaise: balancePaise - (paise - lacking), owedPaise: owedPaise + lacking };
  }
  const paid = Math.min(owedPaise, paise);
  return { balancePaise: balancePaise + paise - paid, owedPaise: owedPaise - paid };
}

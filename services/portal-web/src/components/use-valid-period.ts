import { useRef } from "react";
import { periodError } from "../format/day";
import type { Period } from "./period-fields";

/** The last period whose days are in order. A reversed one is an error of its field, and is not requested. */
export function useValidPeriod({ from, to }: Period): Period {
  const last = useRef<Period>({});
  if (!periodError({ from, to })) last.current = { from, to };
  return last.current;
}

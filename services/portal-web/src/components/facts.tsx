import type { ReactNode } from "react";
import classes from "./facts.module.css";

interface FactsProps {
  children: ReactNode;
  /** Amounts, with their digits below each other. */
  align?: "end";
}

/** Names and what they stand for, line by line. */
export function Facts({ children, align }: FactsProps) {
  return <dl className={align ? `${classes.facts} ${classes.end}` : classes.facts}>{children}</dl>;
}

/** One line; nothing at all for what is not known. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (children === null || children === undefined || children === false || children === "") return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

import type { ReactNode } from "react";
import classes from "./facts.module.css";

interface FactsProps {
  children: ReactNode;
  /** Amounts, with their digits below each other. */
  align?: "end";
  /** Closer together, for cards. */
  compact?: boolean;
}

/** Names and what they stand for, line by line. */
export function Facts({ children, align, compact = false }: FactsProps) {
  const names = [classes.facts, align && classes.end, compact && classes.compact];
  return <dl className={names.filter(Boolean).join(" ")}>{children}</dl>;
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

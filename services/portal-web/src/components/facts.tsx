import type { ReactNode } from "react";
import classes from "./facts.module.css";

interface FactsProps {
  children: ReactNode;
  /** For amounts: aligns their digits. */
  align?: "end";
  /** Less space, for cards. */
  compact?: boolean;
}

/** A list of names and values. */
export function Facts({ children, align, compact = false }: FactsProps) {
  const names = [classes.facts, align && classes.end, compact && classes.compact];
  return <dl className={names.filter(Boolean).join(" ")}>{children}</dl>;
}

/** A name and its value; renders nothing without a value. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (children === null || children === undefined || children === false || children === "") return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

import { Paper } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./figures.module.css";

/** A row of key figures. */
export function Figures({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Paper component="section" aria-label={label} style={{ overflow: "clip" }}>
      <dl className={classes.figures}>{children}</dl>
    </Paper>
  );
}

interface FigureProps {
  name: string;
  children: ReactNode;
  /** A short explanation. */
  hint?: ReactNode;
}

export function Figure({ name, children, hint }: FigureProps) {
  return (
    <div className={classes.figure}>
      <dt>{name}</dt>
      <dd className={classes.value}>{children}</dd>
      {hint && <dd className={classes.hint}>{hint}</dd>}
    </div>
  );
}

import { Anchor, Paper } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router-dom";
import classes from "./figures.module.css";

interface FiguresProps {
  label: string;
  /** For short names: more figures in a row. */
  narrow?: boolean;
  children: ReactNode;
}

/** A row of key figures. */
export function Figures({ label, narrow = false, children }: FiguresProps) {
  return (
    <Paper component="section" aria-label={label} style={{ overflow: "clip" }}>
      <dl className={narrow ? `${classes.figures} ${classes.narrow}` : classes.figures}>{children}</dl>
    </Paper>
  );
}

interface FigureProps {
  name: string;
  /** A page with the details. */
  to?: string;
  children: ReactNode;
  /** A short explanation. */
  hint?: ReactNode;
}

export function Figure({ name, to, children, hint }: FigureProps) {
  return (
    <div className={classes.figure}>
      <dt>
        {to ? (
          <Anchor component={Link} to={to} size="sm">
            {name}
          </Anchor>
        ) : (
          name
        )}
      </dt>
      <dd className={classes.value}>{children}</dd>
      {hint && <dd className={classes.hint}>{hint}</dd>}
    </div>
  );
}

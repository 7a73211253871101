import type { ReactNode } from "react";
import classes from "./dense-card.module.css";

/** A row on a phone: three lines of two parts, at most 80 pixels together. The first part of a line is cut off if it is long. */
export function DenseCard({ children }: { children: ReactNode }) {
  return <div className={classes.card}>{children}</div>;
}

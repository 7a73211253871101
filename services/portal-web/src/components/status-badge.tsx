import classes from "./status-badge.module.css";

/** How something fares: good, needs a look, broken, under way, or not begun. */
export type Tone = "good" | "warn" | "bad" | "info" | "idle";

interface StatusBadgeProps {
  tone: Tone;
  label: string;
  /** With a frame, for tables and headings. */
  pill?: boolean;
}

/** A state in words; the dot only repeats them, so that nothing depends on telling colours apart. */
export function StatusBadge({ tone, label, pill = false }: StatusBadgeProps) {
  return (
    <span className={pill ? `${classes.badge} ${classes.pill}` : classes.badge} data-tone={tone}>
      <span className={classes.dot} aria-hidden="true" />
      {label}
    </span>
  );
}

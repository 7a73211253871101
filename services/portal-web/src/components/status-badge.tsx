import classes from "./status-badge.module.css";

/** The meaning of a state: good, needs attention, broken, in progress, or not started. */
export type Tone = "good" | "warn" | "bad" | "info" | "idle";

interface StatusBadgeProps {
  tone: Tone;
  label: string;
  /** With a frame, for tables and headings. */
  pill?: boolean;
}

/** A state as text. The dot repeats it, so that no information depends on colour alone. */
export function StatusBadge({ tone, label, pill = false }: StatusBadgeProps) {
  return (
    <span className={pill ? `${classes.badge} ${classes.pill}` : classes.badge} data-tone={tone}>
      <span className={classes.dot} aria-hidden="true" />
      {label}
    </span>
  );
}

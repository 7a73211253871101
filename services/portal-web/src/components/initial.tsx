import classes from "./initial.module.css";

/** The first letter of a name, next to which the name is shown. */
export function Initial({ of }: { of: string }) {
  return (
    <span className={classes.initial} aria-hidden="true">
      {of.slice(0, 1).toUpperCase()}
    </span>
  );
}

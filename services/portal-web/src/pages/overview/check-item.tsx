import { Text, VisuallyHidden } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";
import type { ReactNode } from "react";
import classes from "./check-item.module.css";

interface CheckItemProps {
  label: string;
  done: boolean;
  /** When it was done, or how to do it. */
  children?: ReactNode;
}

/** One item of a checklist. The server decides whether it is done. */
export function CheckItem({ label, done, children }: CheckItemProps) {
  return (
    <li className={classes.item}>
      <span className={done ? classes.done : classes.open} aria-hidden="true">
        {done && <IconCheck size={12} stroke={3} />}
      </span>
      <div className={classes.text}>
        <Text component="span" fw={500} c={done ? "dimmed" : undefined}>
          {label}
          <VisuallyHidden>{done ? ": done" : ": open"}</VisuallyHidden>
        </Text>
        {children && (
          <Text component="div" size="xs" c="dimmed">
            {children}
          </Text>
        )}
      </div>
    </li>
  );
}

export function CheckList({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul className={classes.list} aria-label={label}>
      {children}
    </ul>
  );
}

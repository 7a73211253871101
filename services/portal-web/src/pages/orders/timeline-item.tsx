import { Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Tone } from "../../components/status-badge";
import { Time } from "../../components/time";
import classes from "./timeline.module.css";

interface ItemProps {
  tone: Tone;
  title: ReactNode;
  at: string;
  /** Emphasizes the order's status changes. */
  strong?: boolean;
  end?: ReactNode;
  children?: ReactNode;
}

/** One line of a timeline. */
export function Item({ tone, title, at, strong, end, children }: ItemProps) {
  return (
    <li className={classes.item}>
      <span
        className={strong ? `${classes.dot} ${classes.strong}` : classes.dot}
        data-tone={tone}
        aria-hidden="true"
      />
      <div className={classes.words}>
        <Text fw={strong ? 600 : 400}>{title}</Text>
        {children && (
          <Text size="xs" c="dimmed" component="div">
            {children}
          </Text>
        )}
      </div>
      <div className={classes.end}>
        {end}
        <Text size="xs" c="dimmed" component="div">
          <Time at={at} clock />
        </Text>
      </div>
    </li>
  );
}

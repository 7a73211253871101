import { Paper, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { Brand } from "../../app/brand";
import { usePageTitle } from "../../components/page-header";
import classes from "./auth-frame.module.css";

interface AuthFrameProps {
  title: string;
  description?: ReactNode;
  children: ReactNode;
  /** A link to another page, below the frame. */
  footer?: ReactNode;
}

/** Frame of the pages for guests. */
export function AuthFrame({ title, description, children, footer }: AuthFrameProps) {
  usePageTitle(title);
  return (
    <main className={classes.outer}>
      <div className={classes.column}>
        <Brand />
        <Paper className={classes.card}>
          <Title order={1}>{title}</Title>
          {description && (
            <Text c="dimmed" mt={4}>
              {description}
            </Text>
          )}
          <div className={classes.body}>{children}</div>
        </Paper>
        {footer && (
          <Text c="dimmed" ta="center">
            {footer}
          </Text>
        )}
      </div>
    </main>
  );
}

import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useIsOnline } from "../api/online";
import { readAnew, useSlowReads } from "../api/slow-reads";
import { listed, partName } from "../format/service-words";
import classes from "./connection-notice.module.css";

/** That there is no connection, or what of the page is long in coming: whoever waits knows what for. */
export function ConnectionNotice() {
  const client = useQueryClient();
  const isOnline = useIsOnline();
  const slow = useSlowReads();
  return (
    <div className={classes.holder} role="status" aria-label="Connection">
      {!isOnline ? (
        <div className={classes.notice}>
          You are offline. What is shown may be old, and nothing can be changed. The page goes on by itself
          when you are back.
        </div>
      ) : (
        slow.length > 0 && (
          <div className={classes.notice}>
            <span>
              Still waiting for: {listed(slow.map(({ queryKey }) => partName(queryKey)))}. A service may be
              slow or stopped.
            </span>
            <Button size="xs" variant="default" onClick={() => readAnew(client, slow)}>
              Try again
            </Button>
          </div>
        )
      )}
    </div>
  );
}

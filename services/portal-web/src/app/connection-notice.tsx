import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useIsOnline } from "../api/online";
import { readAnew, useSlowReads } from "../api/slow-reads";
import { listed, partName } from "../format/service-words";
import classes from "./connection-notice.module.css";

/** Tells users that they are offline, or which data is slow to load. */
export function ConnectionNotice() {
  const client = useQueryClient();
  const isOnline = useIsOnline();
  const slow = useSlowReads();
  return (
    <div className={classes.holder} role="status" aria-label="Connection">
      {!isOnline ? (
        <div className={classes.notice}>
          You are offline. The data may be outdated, and you cannot make changes. The page reconnects
          automatically.
        </div>
      ) : (
        slow.length > 0 && (
          <div className={classes.notice}>
            <span>
              Still loading: {listed(slow.map(({ queryKey }) => partName(queryKey)))}. A service may be slow
              or down.
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

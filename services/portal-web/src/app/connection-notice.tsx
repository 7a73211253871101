import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useIsOnline } from "../api/online";
import { restartQueries, useSlowQueries } from "../api/slow-queries";
import { joinList, queryName } from "../format/service-names";
import classes from "./connection-notice.module.css";

/** Tells users that they are offline, or which data is slow to load. */
export function ConnectionNotice() {
  const client = useQueryClient();
  const isOnline = useIsOnline();
  const slow = useSlowQueries();
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
              Still loading: {joinList(slow.map(({ queryKey }) => queryName(queryKey)))}. A service may be
              slow or down.
            </span>
            <Button size="xs" variant="default" onClick={() => restartQueries(client, slow)}>
              Try again
            </Button>
          </div>
        )
      )}
    </div>
  );
}

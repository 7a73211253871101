import { Menu, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { asFailure } from "../api/failure";
import { checkSession, useSwitchBusiness } from "../api/session";
import { ROLE_LABELS, useSession } from "./session";
import classes from "./user-menu.module.css";

/** The businesses of a person who belongs to several. A click switches. */
export function BusinessChoices() {
  const { businessId, memberships } = useSession();
  const client = useQueryClient();
  const change = useSwitchBusiness();
  // A session that was just opened does not list them yet.
  useEffect(() => {
    if (!memberships) checkSession(client);
  }, [client, memberships]);
  if (!memberships || memberships.length < 2) return null;
  function choose(id: string) {
    if (id === businessId) return;
    change.mutate(id, {
      onError: (error) => notifications.show({ color: "red", message: asFailure(error).message }),
    });
  }
  return (
    <>
      <Menu.Divider />
      <Menu.Label>Businesses</Menu.Label>
      <Menu.RadioGroup value={businessId} onChange={choose}>
        {memberships.map((membership) => (
          <Menu.RadioItem
            key={membership.businessId}
            value={membership.businessId}
            disabled={change.isPending || change.isSuccess}
          >
            <span className={classes.business}>{membership.businessName}</span>
            <Text span size="xs" c="dimmed">
              {ROLE_LABELS[membership.role]}
              {membership.status === "suspended" && ", suspended"}
            </Text>
          </Menu.RadioItem>
        ))}
      </Menu.RadioGroup>
    </>
  );
}

import { Menu, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { asFailure } from "../api/failure";
import { useSwitchBusiness } from "../api/session";
import { ROLE_LABELS, useSession } from "./session";
import classes from "./user-menu.module.css";

/** The businesses of a person who belongs to several. A click switches. */
export function BusinessChoices() {
  const { businessId, memberships } = useSession();
  const change = useSwitchBusiness();
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

import { Stack, Text } from "@mantine/core";
import { useConfirmAtBusinessSso } from "../api/business-sso";
import type { AccountScope } from "../api/recent-authentication";
import { useStartSso } from "../api/single-sign-on";
import { DialogActions } from "../components/dialog-actions";
import { ErrorState } from "../components/error-state";

/** Confirms a session that the identity provider has opened. The browser leaves the page for it. */
export function ConfirmWithSso({ scope, onCancel }: { scope: AccountScope; onCancel: () => void }) {
  const ofStaff = useStartSso();
  const ofBusiness = useConfirmAtBusinessSso();
  const start = scope === "operator" ? ofStaff : ofBusiness;
  const go = () => (scope === "operator" ? ofStaff.mutate("confirm") : ofBusiness.mutate());
  return (
    <Stack>
      <Text>
        Your last login was some time ago. Log in to your company’s account again. You then come back to this
        page, and can repeat what you wanted to do.
      </Text>
      {start.error && <ErrorState error={start.error} title="Single sign-on is not possible" />}
      <DialogActions isPending={start.isPending} onCancel={onCancel} onAct={go}>
        Log in again
      </DialogActions>
    </Stack>
  );
}

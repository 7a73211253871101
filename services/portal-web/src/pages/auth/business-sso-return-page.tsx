import { useCallback, useState } from "react";
import { useParams } from "react-router-dom";
import { lastBusinessDeparture, useCompleteBusinessSso } from "../../api/business-sso";
import type { SsoReturn as Returned } from "../../api/types";
import { SsoReturn } from "./sso-return";

/** The identity provider of a business sends browsers back to this page. Its address names the business. */
export function Component() {
  const { businessId = "" } = useParams();
  const [departure] = useState(() => lastBusinessDeparture(businessId));
  const { mutate, error } = useCompleteBusinessSso();
  const complete = useCallback(
    (returned: Returned, options: { onSuccess: () => void }) => mutate({ businessId, ...returned }, options),
    [businessId, mutate],
  );
  return <SsoReturn departure={departure} error={error} complete={complete} />;
}

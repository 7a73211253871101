import { useState } from "react";
import { lastDeparture, useCompleteSso } from "../../api/single-sign-on";
import { SsoReturn } from "../auth/sso-return";

/** The identity provider sends the browsers of the staff back to this page. */
export function Component() {
  const [departure] = useState(lastDeparture);
  const { mutate, error } = useCompleteSso();
  return <SsoReturn departure={departure} error={error} complete={mutate} />;
}

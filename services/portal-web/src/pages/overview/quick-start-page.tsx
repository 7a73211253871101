import { PageHeader } from "../../components/page-header";
import { Onboarding } from "./onboarding";

/** What the overview shows until the first live order. */
export function Component() {
  return (
    <>
      <PageHeader
        title="Quick start"
        description="The status of your integration, the go-live checklist, and a first test order."
      />
      <Onboarding />
    </>
  );
}

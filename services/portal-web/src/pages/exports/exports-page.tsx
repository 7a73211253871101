import { ExportsTable } from "../../components/exports-table";
import { PageHeader } from "../../components/page-header";

export function Component() {
  return (
    <>
      <PageHeader
        title="Exports"
        description="Files of your lists. Each is deleted 24 hours after you asked for it, because it may contain data of customers."
      />
      <ExportsTable scope="portal" />
    </>
  );
}

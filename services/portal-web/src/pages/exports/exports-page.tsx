import { ExportsTable } from "../../components/exports-table";
import { PageHeader } from "../../components/page-header";

export function Component() {
  return (
    <>
      <PageHeader
        title="Exports"
        description="Files of your lists. The latest 12 of each person are kept, for 24 hours, because they may contain data of customers."
      />
      <ExportsTable scope="portal" />
    </>
  );
}

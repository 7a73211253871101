import { ExportsTable } from "../../components/exports-table";
import { PageHeader } from "../../components/page-header";

export function Component() {
  return (
    <>
      <PageHeader
        title="Exports"
        description="Your files of the lists of businesses. The latest 12 of each business are kept, for 24 hours. The audit log names each, and each download."
      />
      <ExportsTable scope="operator" />
    </>
  );
}

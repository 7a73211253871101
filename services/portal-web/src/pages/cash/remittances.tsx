import { useRemittances } from "../../api/cash";
import { EmptyState } from "../../components/empty-state";
import { ListSection } from "../../components/list-section";
import { remittanceColumns } from "../../components/remittance-columns";

const COLUMNS = remittanceColumns(
  (id) => `/v1/portal/remittances/${id}/orders.csv`,
  (id) => `/cash-on-delivery/remittances/${id}`,
);

/** The bank transfers of the delivery company. */
export function Remittances() {
  return (
    <ListSection
      title="Bank transfers"
      description="What your delivery company paid out to you, newest first."
      list={useRemittances()}
      columns={COLUMNS}
      rowKey={(row) => row.id}
      empty={
        <EmptyState title="No bank transfers yet">Each transfer appears here with its orders.</EmptyState>
      }
    />
  );
}

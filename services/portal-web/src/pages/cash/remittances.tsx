import { type CashMonth, useRemittances } from "../../api/cash";
import { EmptyState } from "../../components/empty-state";
import { ListSection } from "../../components/list-section";
import { remittanceCard, remittanceColumns } from "../../components/remittance-columns";
import { orderCount } from "../../format/cash-labels";
import { formatPaise } from "../../format/money";

const csvUrl = (id: string) => `/v1/portal/remittances/${id}/orders.csv`;
const path = (id: string) => `/cash-on-delivery/remittances/${id}`;
const COLUMNS = remittanceColumns(csvUrl, path);
const CARD = remittanceCard(csvUrl, path);

/** The bank transfers of the delivery company. */
export function Remittances({ months }: { months: CashMonth[] }) {
  return (
    <ListSection
      title="Bank transfers"
      description={`What your delivery company paid out to you, newest first.${withoutTransfer(months)}`}
      list={useRemittances()}
      columns={COLUMNS}
      card={CARD}
      rowKey={(row) => row.id}
      empty={
        <EmptyState title="No bank transfers yet">Each transfer appears here with its orders.</EmptyState>
      }
    />
  );
}

/** Why the settled cash of the months is more than the transfers. */
function withoutTransfer(months: CashMonth[]): string {
  const orders = months.reduce((sum, month) => sum + month.settledWithoutTransferOrders, 0);
  const paise = months.reduce((sum, month) => sum + month.settledWithoutTransferPaise, 0);
  if (orders === 0) return "";
  return ` Of the months above, ${orderCount(orders)} with ${formatPaise(paise)} were settled without a transfer in this list.`;
}

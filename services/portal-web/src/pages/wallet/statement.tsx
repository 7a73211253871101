import { statementUrl, useEntries, useStatementTotals } from "../../api/wallet";
import { EntryCard, entryColumns } from "../../components/entry-columns";
import { Statement } from "../../components/statement";
import { useEntryFilter } from "../../components/use-entry-filter";
import { ENTRY_HINTS } from "../../format/entry-labels";

const COLUMNS = entryColumns({ linksOrders: true });

/** The statement of the own wallet. */
export function OwnStatement() {
  const entryFilter = useEntryFilter();
  const { filter } = entryFilter;
  const { data: totals } = useStatementTotals(filter);
  return (
    <Statement
      entryFilter={entryFilter}
      list={useEntries(filter)}
      totals={totals}
      fileUrl={(format) => statementUrl("/v1/portal/wallet", format, filter)}
      columns={COLUMNS}
      card={(entry) => <EntryCard entry={entry} linksOrders />}
      hints={ENTRY_HINTS}
    />
  );
}

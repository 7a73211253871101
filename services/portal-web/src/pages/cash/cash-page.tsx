import { Stack } from "@mantine/core";
import { useSearchParams } from "react-router-dom";
import { type CashFilter, cashKey, useCash, useCashMonths } from "../../api/cash";
import { useReloadOnChange } from "../../api/changes";
import { ErrorState } from "../../components/error-state";
import { Loading } from "../../components/loading";
import { PageHeader } from "../../components/page-header";
import { CASH_STATUSES } from "../../format/cash-labels";
import { CashMonths } from "./cash-months";
import { CashOrders } from "./cash-orders";
import { CashTotalsPart } from "./cash-totals";
import { Remittances } from "./remittances";

const SHOWN = [cashKey];

export function Component() {
  useReloadOnChange(SHOWN);
  const [filter, change] = useCashFilter();
  const cash = useCash(filter);
  const months = useCashMonths();
  return (
    <>
      <PageHeader
        title="Cash on delivery"
        description="Cash that drivers collect for you, until it is settled. It does not pass through your wallet."
      />
      {cash.error && !cash.totals ? (
        <ErrorState error={cash.error} onRetry={() => cash.refetch()} />
      ) : (
        <Stack gap="md">
          {cash.totals ? (
            <CashTotalsPart totals={cash.totals} />
          ) : (
            <Loading what="Loading the totals" height={152} radius="lg" />
          )}
          <CashMonths months={months} />
          <CashOrders cash={cash} filter={filter} onChange={change} />
          <Remittances months={months.data ?? []} />
        </Stack>
      )}
    </>
  );
}

function useCashFilter(): [CashFilter, (changed: CashFilter) => void] {
  const [search, setSearch] = useSearchParams();
  const status = search.get("status") ?? "";
  const filter: CashFilter = {
    status: status in CASH_STATUSES ? status : undefined,
    differs: search.get("differs") === "true" || undefined,
    discrepant: search.get("discrepant") === "true" || undefined,
    late: search.get("late") === "true" || undefined,
  };
  function change(changed: CashFilter) {
    const given = Object.entries({ ...filter, ...changed }).filter(([, value]) => value);
    setSearch(Object.fromEntries(given.map(([name, value]) => [name, String(value)])), {
      replace: true,
      preventScrollReset: true,
    });
  }
  return [filter, change];
}

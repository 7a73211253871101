import { Group, NativeSelect, Paper, Stack } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useSearchParams } from "react-router-dom";
import { type FoundOrdersFilter, isSearch, useFoundOrders } from "../../api/operator-orders";
import { EmptyState } from "../../components/empty-state";
import { ErrorState } from "../../components/error-state";
import { LoadMore } from "../../components/load-more";
import { Loading } from "../../components/loading";
import { PageHeader } from "../../components/page-header";
import { PeriodFields } from "../../components/period-fields";
import { SearchField } from "../../components/search-field";
import { useUrlFilter } from "../../components/use-url-filter";
import { useValidPeriod } from "../../components/use-valid-period";
import { DELIVERY_STATUSES, type DeliveryStatus } from "../../format/order-labels";
import { choices } from "../../format/status-label";
import { BusinessField } from "./business-field";
import { FoundOrderCard } from "./found-order";

const FIELDS = ["search", "city", "status", "businessId", "from", "to"] as const;

export function Component() {
  const { filter: fields, change } = useUrlFilter<FoundOrdersFilter>(FIELDS);
  const [parameters] = useSearchParams();
  // Links of former releases have a code.
  const search = fields.search ?? parameters.get("code") ?? undefined;
  const filter = { ...fields, search };
  const searched = { ...filter, ...useValidPeriod(fields) };
  const found = useFoundOrders(searched);
  return (
    <>
      <PageHeader
        title="Find an order"
        description="Find orders of any business by words of the customer or the order, by a date, or by their city. Each search is recorded."
      />
      <Filters
        filter={filter}
        onChange={(changed) => change({ search, ...changed })}
        onRepeat={() => void found.refetch()}
      />
      {!isSearch(searched) ? (
        <EmptyState icon={<IconSearch size={28} />} title="Enter what you know of the order">
          The customer’s name, phone, city or PIN code, part of the reference, the code of the parcel, a date,
          or the first and the last day.
        </EmptyState>
      ) : found.error && !found.data ? (
        <ErrorState error={found.error} title="The search failed" onRetry={() => found.refetch()} />
      ) : found.data ? (
        <FoundOrders found={found} hasFilters={Object.keys(fields).length > 1} />
      ) : (
        <Loading what="Searching" height={160} radius="lg" />
      )}
    </>
  );
}

interface FiltersProps {
  filter: FoundOrdersFilter;
  onChange: (changed: FoundOrdersFilter) => void;
  /** The same text was entered again. */
  onRepeat: () => void;
}

function Filters({ filter, onChange, onRepeat }: FiltersProps) {
  return (
    <Group gap="sm" mb="md" align="flex-start">
      <SearchField
        label="Find an order"
        hasVisibleLabel
        size="xs"
        placeholder="Name, phone, city, PIN, reference or code"
        value={filter.search}
        onChange={(next) => (next && next === filter.search ? onRepeat() : onChange({ search: next }))}
        style={{ flex: "1 1 20rem", maxWidth: "32rem" }}
        autoFocus
      />
      <SearchField
        label="City"
        hasVisibleLabel
        size="xs"
        value={filter.city}
        onChange={(city) => onChange({ city })}
      />
      <NativeSelect
        label="Status"
        size="xs"
        value={filter.status ?? ""}
        onChange={(event) =>
          onChange({ status: (event.currentTarget.value || undefined) as DeliveryStatus | undefined })
        }
        data={[{ value: "", label: "Any status" }, ...choices(DELIVERY_STATUSES)]}
      />
      <BusinessField value={filter.businessId} onBusiness={(businessId) => onChange({ businessId })} />
      <PeriodFields period={filter} onChange={onChange} />
    </Group>
  );
}

interface FoundOrdersProps {
  found: ReturnType<typeof useFoundOrders>;
  hasFilters: boolean;
}

function FoundOrders({ found, hasFilters }: FoundOrdersProps) {
  const { rows, hasNextPage } = found;
  return (
    <Stack gap="md" aria-live="polite">
      {rows.length === 0 && !hasNextPage && (
        <EmptyState icon={<IconSearch size={28} />} title="No order found">
          Enter the beginning of words, the end of a reference, or a whole code
          {hasFilters ? ", or change the filters." : "."}
        </EmptyState>
      )}
      {rows.map((one) => (
        <FoundOrderCard key={one.id} found={one} isOnly={rows.length === 1 && !hasNextPage} />
      ))}
      {hasNextPage && (
        <Paper>
          <LoadMore list={found} showsCount />
        </Paper>
      )}
    </Stack>
  );
}

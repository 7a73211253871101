import { Group, Stack } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useSearchParams } from "react-router-dom";
import { type FoundOrdersFilter, useFoundOrders } from "../../api/operator-orders";
import { EmptyState } from "../../components/empty-state";
import { ErrorState } from "../../components/error-state";
import { Loading } from "../../components/loading";
import { PageHeader } from "../../components/page-header";
import { PeriodFields } from "../../components/period-fields";
import { SearchField } from "../../components/search-field";
import { useUrlFilter } from "../../components/use-url-filter";
import { useValidPeriod } from "../../components/use-valid-period";
import { FoundOrderCard } from "./found-order";

const FIELDS = ["search", "from", "to"] as const;

export function Component() {
  const { filter, change } = useUrlFilter<FoundOrdersFilter>(FIELDS);
  const [parameters] = useSearchParams();
  // Links of former releases have a code.
  const search = filter.search ?? parameters.get("code") ?? undefined;
  const found = useFoundOrders({ search, ...useValidPeriod(filter) });
  return (
    <>
      <PageHeader
        title="Find an order"
        description="Find the newest orders of any business by words of the customer or the order. Each search is recorded."
      />
      <Group gap="sm" mb="md" align="flex-start">
        <SearchField
          label="Find an order"
          hasVisibleLabel
          size="xs"
          placeholder="Name, phone, city, PIN, reference or code"
          value={search}
          onChange={(next) =>
            next && next === search ? void found.refetch() : change({ ...filter, search: next })
          }
          style={{ flex: "1 1 20rem", maxWidth: "32rem" }}
          autoFocus
        />
        <PeriodFields period={filter} onChange={(period) => change({ search, ...period })} />
      </Group>
      {search === undefined ? (
        <EmptyState icon={<IconSearch size={28} />} title="Enter what you know of the order">
          The customer’s name, phone, city or PIN code, part of the reference, or the code of the parcel.
        </EmptyState>
      ) : found.data ? (
        <Stack gap="md" aria-live="polite">
          {found.data.data.length === 0 && (
            <EmptyState icon={<IconSearch size={28} />} title="No order found">
              Enter the beginning of words, the end of a reference, or a whole code
              {filter.from || filter.to ? ", or choose other days." : "."}
            </EmptyState>
          )}
          {found.data.data.map((one) => (
            <FoundOrderCard key={one.order.id} found={one} isOnly={found.data.data.length === 1} />
          ))}
        </Stack>
      ) : found.error ? (
        <ErrorState error={found.error} title="The search failed" onRetry={() => found.refetch()} />
      ) : (
        <Loading what="Searching" height={160} radius="lg" />
      )}
    </>
  );
}

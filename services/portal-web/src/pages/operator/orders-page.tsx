import { Stack } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useSearchParams } from "react-router-dom";
import { useFoundOrders } from "../../api/operator-orders";
import { EmptyState } from "../../components/empty-state";
import { ErrorState } from "../../components/error-state";
import { Loading } from "../../components/loading";
import { PageHeader } from "../../components/page-header";
import { SearchField } from "../../components/search-field";
import { FoundOrderCard } from "./found-order";

export function Component() {
  const [parameters, setParameters] = useSearchParams();
  // Links of former releases have a code.
  const search = parameters.get("search") ?? parameters.get("code") ?? undefined;
  const found = useFoundOrders(search);
  return (
    <>
      <PageHeader
        title="Find an order"
        description="Find the newest orders of any business by words of the customer or the order. Each search is recorded."
      />
      <SearchField
        label="Find an order"
        placeholder="Name, phone, city, PIN, reference or code"
        value={search}
        onChange={(next) =>
          next && next === search
            ? found.refetch()
            : setParameters(next ? { search: next } : {}, { replace: true })
        }
        style={{ maxWidth: "32rem", marginBottom: 16 }}
        autoFocus
      />
      {search === undefined ? (
        <EmptyState icon={<IconSearch size={28} />} title="Enter what you know of the order">
          The customer’s name, phone, city or PIN code, part of the reference, or the code of the parcel.
        </EmptyState>
      ) : found.data ? (
        <Stack gap="md" aria-live="polite">
          {found.data.data.length === 0 && (
            <EmptyState icon={<IconSearch size={28} />} title="No order found">
              Enter the beginning of words, the end of a reference, or a whole code.
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

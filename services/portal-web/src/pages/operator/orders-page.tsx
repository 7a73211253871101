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
  const [search, setSearch] = useSearchParams();
  const code = search.get("code") ?? undefined;
  const found = useFoundOrders(code);
  return (
    <>
      <PageHeader
        title="Find an order"
        description="Find an order of any business by its id, tracking code or order reference."
      />
      <SearchField
        label="Order id, tracking code or reference"
        placeholder="Order id, tracking code or reference"
        value={code}
        onChange={(next) => setSearch(next ? { code: next } : {}, { replace: true })}
        style={{ maxWidth: "32rem", marginBottom: 16 }}
        autoFocus
      />
      {code === undefined ? (
        <EmptyState icon={<IconSearch size={28} />} title="Enter a code">
          Enter the full code from the parcel, the message or the business’s shop.
        </EmptyState>
      ) : found.data ? (
        <Stack gap="md" aria-live="polite">
          {found.data.data.length === 0 && (
            <EmptyState icon={<IconSearch size={28} />} title="No order found">
              Enter the full code. A reference must match exactly.
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

import { Anchor, Group, NativeSelect, Text } from "@mantine/core";
import { IconBuildingStore } from "@tabler/icons-react";
import { Link, useSearchParams } from "react-router-dom";
import { type Business, type BusinessFilter, useBusinesses } from "../../api/operator-businesses";
import type { Column } from "../../components/data-table";
import { DenseCard } from "../../components/dense-card";
import { EmptyState, NoMatches } from "../../components/empty-state";
import { ListFrame } from "../../components/list-section";
import { Money } from "../../components/money";
import { PageHeader } from "../../components/page-header";
import { SearchField } from "../../components/search-field";
import { StatusBadge } from "../../components/status-badge";
import { Time } from "../../components/time";
import { choices, statusLabel } from "../../format/status-label";
import { planName } from "../subscription/plan-name";
import { BUSINESS_STATUSES, businessStatus, SUBSCRIPTION_STATES } from "./business-labels";

const COLUMNS: Column<Business>[] = [
  { key: "name", header: "Business", lead: true, render: (business) => <Name business={business} /> },
  {
    key: "status",
    header: "Status",
    width: "15%",
    render: (business) => <Standing business={business} />,
  },
  {
    key: "subscription",
    header: "Subscription",
    width: "15%",
    render: (business) => <Plan business={business} />,
  },
  {
    key: "balance",
    header: "Balance",
    width: "13%",
    align: "end",
    render: (business) => <Balance business={business} />,
  },
  {
    key: "orders",
    header: "Orders, 30 days",
    width: "12%",
    align: "end",
    render: ({ recentOrders }) => recentCount(recentOrders),
  },
  {
    key: "last",
    header: "Last order",
    width: "12%",
    render: (business) => <LastOrder business={business} />,
  },
  {
    key: "since",
    header: "Signed up",
    width: "12%",
    render: ({ createdAt }) => <Time at={createdAt} relative />,
  },
];

/** The most recent orders that the server counts. */
const RECENT_MAX = 5_000;

function recentCount(count: number | null | undefined): string {
  if (typeof count !== "number") return "Unavailable";
  return count >= RECENT_MAX ? `${RECENT_MAX} or more` : String(count);
}

export function Component() {
  const [filter, change] = useBusinessFilter();
  const isFiltered = Object.values(filter).some(Boolean);
  return (
    <>
      <PageHeader title="Businesses" description="All registered businesses, newest first." />
      <Filters filter={filter} onChange={change} />
      <ListFrame
        label="Businesses"
        list={useBusinesses(filter)}
        failed="The businesses could not be loaded"
        columns={COLUMNS}
        card={(business) => <BusinessCard business={business} />}
        rowKey={(business) => business.id}
        showsCount
        empty={<NoBusinesses isFiltered={isFiltered} onClear={() => change(null)} />}
      />
    </>
  );
}

/** A row on a phone. The page of the business has the rest. */
function BusinessCard({ business }: { business: Business }) {
  const { id, name, subscription, recentOrders } = business;
  return (
    <DenseCard>
      <Anchor component={Link} to={`/operator/businesses/${id}`} size="sm" fw={500}>
        {name}
      </Anchor>
      <StatusBadge {...businessStatus(business)} />
      <span>{business.ownerEmail}</span>
      <StatusBadge {...statusLabel(SUBSCRIPTION_STATES, subscription)} />
      <span>
        {recentCount(recentOrders)} in 30 days, last <LastOrder business={business} />
      </span>
      <span>
        <Balance business={business} />
      </span>
    </DenseCard>
  );
}

function Balance({ business: { balancePaise } }: { business: Business }) {
  return typeof balancePaise === "number" ? <Money paise={balancePaise} /> : "Unavailable";
}

function LastOrder({ business: { lastOrderAt, recentOrders } }: { business: Business }) {
  if (typeof recentOrders !== "number") return "Unavailable";
  return <Time at={lastOrderAt} never="None" relative />;
}

/** Stored in the URL, so that going back from a business restores the list. `null` clears it. */
function useBusinessFilter(): [BusinessFilter, (changed: BusinessFilter | null) => void] {
  const [search, setSearch] = useSearchParams();
  const known = (words: object, code: string | null) => (code && code in words ? code : undefined);
  const filter: BusinessFilter = {
    search: search.get("search") ?? undefined,
    status: known(BUSINESS_STATUSES, search.get("status")),
    subscription: known(SUBSCRIPTION_STATES, search.get("subscription")),
  };
  function change(changed: BusinessFilter | null) {
    const given = Object.entries(changed ? { ...filter, ...changed } : {}).filter(([, value]) => value);
    setSearch(Object.fromEntries(given), { replace: true });
  }
  return [filter, change];
}

interface FiltersProps {
  filter: BusinessFilter;
  onChange: (changed: BusinessFilter) => void;
}

function Filters({ filter, onChange }: FiltersProps) {
  return (
    <Group gap="xs" mb="sm">
      <SearchField
        label="Find a business"
        placeholder="Name, e-mail or business id"
        value={filter.search}
        onChange={(search) => onChange({ search })}
        style={{ flex: "1 1 16rem", maxWidth: "26rem" }}
      />
      <NativeSelect
        aria-label="Status"
        value={filter.status ?? ""}
        onChange={(event) => onChange({ status: event.currentTarget.value || undefined })}
        data={[{ value: "", label: "Any status" }, ...choices(BUSINESS_STATUSES)]}
      />
      <NativeSelect
        aria-label="Subscription"
        value={filter.subscription ?? ""}
        onChange={(event) => onChange({ subscription: event.currentTarget.value || undefined })}
        data={[{ value: "", label: "Any subscription" }, ...choices(SUBSCRIPTION_STATES)]}
      />
    </Group>
  );
}

function Name({ business }: { business: Business }) {
  return (
    <div style={{ overflowWrap: "anywhere" }}>
      <Anchor component={Link} to={`/operator/businesses/${business.id}`} size="sm" fw={500}>
        {business.name}
      </Anchor>
      {business.ownerEmail && (
        <Text size="xs" c="dimmed">
          {business.ownerEmail}
        </Text>
      )}
    </div>
  );
}

/** The status, and whether live orders are unlocked. */
function Standing({ business }: { business: Business }) {
  const { closed, unlocked, missing, refused, askedAgain } = business;
  return (
    <div>
      <StatusBadge {...businessStatus(business)} />
      {!closed && (
        <Text size="xs" c="dimmed">
          {unlocked ? "Unlocked" : `Locked, ${missing.length} open`}
          {refused ? ", refused" : askedAgain && ", asked again"}
        </Text>
      )}
    </div>
  );
}

function Plan({ business: { subscription, plan, requestedPlan } }: { business: Business }) {
  const shown = subscription === "requested" ? requestedPlan : plan;
  return (
    <div>
      <StatusBadge {...statusLabel(SUBSCRIPTION_STATES, subscription)} />
      <Text size="xs" c="dimmed">
        {shown && planName(shown)}
        {subscription === "active" && requestedPlan && `, requested: ${planName(requestedPlan)}`}
      </Text>
    </div>
  );
}

function NoBusinesses({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (!isFiltered) {
    return (
      <EmptyState icon={<IconBuildingStore size={28} />} title="No businesses yet">
        Share this portal’s address with businesses. After their sign-up, they appear here for your approval.
      </EmptyState>
    );
  }
  return (
    <NoMatches title="No matching businesses" clear="Show all businesses" onClear={onClear}>
      Search by part of a name or e-mail, or by a full business id.
    </NoMatches>
  );
}

import { Group, Stack, Text } from "@mantine/core";
import { lazy } from "react";
import { useParams } from "react-router-dom";
import { type BusinessDetails, useBusiness } from "../../api/operator-businesses";
import { useMay } from "../../api/operator-session";
import { BackLink } from "../../components/back-link";
import { InlineCode } from "../../components/code-block";
import { CopyButton } from "../../components/copy-button";
import { ErrorState } from "../../components/error-state";
import { Loading } from "../../components/loading";
import { PageHeader } from "../../components/page-header";
import { StatusBadge } from "../../components/status-badge";
import { UrlTabs } from "../../components/url-tabs";
import { businessStatus } from "./business-labels";
import { BusinessStatus } from "./business-status";
import { BusinessWallet } from "./business-wallet";
import { PendingRequests } from "./pending-requests";

// All tabs but the first are loaded on demand, to keep the first visit small.
const BusinessApprovals = lazy(async () => ({
  default: (await import("./business-approvals")).BusinessApprovals,
}));
const BusinessAuditLog = lazy(async () => ({
  default: (await import("./business-audit-log")).BusinessAuditLog,
}));
const BusinessCash = lazy(async () => ({ default: (await import("./business-cash")).BusinessCash }));
const BusinessClosing = lazy(async () => ({ default: (await import("./business-closing")).BusinessClosing }));
const BusinessContact = lazy(async () => ({ default: (await import("./business-contact")).BusinessContact }));
const BusinessPickup = lazy(async () => ({ default: (await import("./business-contact")).BusinessPickup }));
const BusinessHealthPart = lazy(async () => ({
  default: (await import("./business-health")).BusinessHealthPart,
}));
const BusinessOrders = lazy(async () => ({ default: (await import("./business-orders")).BusinessOrders }));
const BusinessPeople = lazy(async () => ({ default: (await import("./business-people")).BusinessPeople }));
const StaffNotes = lazy(async () => ({ default: (await import("./staff-notes")).StaffNotes }));

export function Component() {
  const { businessId = "" } = useParams();
  const business = useBusiness(businessId);
  return (
    <>
      <BackLink to="/operator/businesses">Businesses</BackLink>
      {business.data ? (
        <Details business={business.data} />
      ) : (
        <>
          <PageHeader title="Business" />
          {business.error ? (
            <ErrorState
              error={business.error}
              title="This business could not be loaded"
              onRetry={() => business.refetch()}
            />
          ) : (
            <Loading what="Loading the business" height={420} radius="lg" />
          )}
        </>
      )}
    </>
  );
}

function Details({ business }: { business: BusinessDetails }) {
  const [readsUsers, readsOrders] = [useMay("read_users"), useMay("read_orders")];
  const [readsCash, reviews] = [useMay("read_cash"), useMay("review_approvals")];
  const { id } = business;
  const tabs = [
    {
      value: "status",
      label: "Status",
      panel: (
        <Stack gap="md">
          <BusinessStatus business={business} />
          <BusinessWallet business={business} />
        </Stack>
      ),
    },
    {
      value: "contact",
      label: "Contact",
      panel: (
        <Stack gap="md">
          <BusinessContact business={business} />
          <BusinessPickup business={business} />
          <StaffNotes businessId={id} />
        </Stack>
      ),
    },
    { value: "health", label: "Health", panel: <BusinessHealthPart businessId={id} /> },
    readsOrders && { value: "orders", label: "Orders", panel: <BusinessOrders businessId={id} /> },
    readsCash && { value: "cash", label: "Cash", panel: <BusinessCash businessId={id} /> },
    readsUsers && { value: "users", label: "Users", panel: <BusinessPeople businessId={id} /> },
    reviews && { value: "approvals", label: "Approvals", panel: <BusinessApprovals businessId={id} /> },
    readsUsers && { value: "audit-log", label: "Audit log", panel: <BusinessAuditLog businessId={id} /> },
    { value: "closing", label: "Closing", panel: <BusinessClosing business={business} /> },
  ];
  return (
    <>
      <PageHeader
        title={business.name}
        actions={business.closing && <StatusBadge pill {...businessStatus(business)} />}
        description={
          <Group component="span" gap={6}>
            {business.ownerEmail && <Text component="span">{business.ownerEmail}</Text>}
            <InlineCode>{business.id}</InlineCode>
            <CopyButton value={business.id} label="Copy the business id" />
          </Group>
        }
      />
      <PendingRequests businessId={business.id} />
      <UrlTabs tabs={tabs.filter((tab) => tab !== false)} />
    </>
  );
}

import { Group, Stack, Text } from "@mantine/core";
import { useParams } from "react-router-dom";
import { type BusinessDetails, useBusiness } from "../../api/operator-businesses";
import { useMay } from "../../api/operator-session";
import { BackLink } from "../../components/back-link";
import { InlineCode } from "../../components/code-block";
import { CopyButton } from "../../components/copy-button";
import { ErrorState } from "../../components/error-state";
import { Loading } from "../../components/loading";
import { PageHeader } from "../../components/page-header";
import { UrlTabs } from "../../components/url-tabs";
import { BusinessApprovals } from "./business-approvals";
import { BusinessAuditLog } from "./business-audit-log";
import { BusinessCash } from "./business-cash";
import { BusinessClosing } from "./business-closing";
import { BusinessContact } from "./business-contact";
import { BusinessHealthPart } from "./business-health";
import { BusinessOrders } from "./business-orders";
import { BusinessPeople } from "./business-people";
import { BusinessStatus } from "./business-status";
import { BusinessWallet } from "./business-wallet";
import { PendingRequests } from "./pending-requests";
import { StaffNotes } from "./staff-notes";

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

import { Group, Stack, Tabs, Text } from "@mantine/core";
import { useParams, useSearchParams } from "react-router-dom";
import { type BusinessDetails, useBusiness } from "../../api/operator-businesses";
import { useMay } from "../../api/operator-session";
import { BackLink } from "../../components/back-link";
import { InlineCode } from "../../components/code-block";
import { CopyButton } from "../../components/copy-button";
import { ErrorState } from "../../components/error-state";
import { Loading } from "../../components/loading";
import { PageHeader } from "../../components/page-header";
import { BusinessAuditLog } from "./business-audit-log";
import { BusinessHealthPart } from "./business-health";
import { BusinessPeople } from "./business-people";
import { BusinessStatus } from "./business-status";
import { BusinessWallet } from "./business-wallet";
import { PendingRequests } from "./pending-requests";

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
  const [search, setSearch] = useSearchParams();
  const tab = search.get("tab") ?? "status";
  const mayReadUsers = useMay("read_users");
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
      <Tabs
        value={tab}
        onChange={(next) => setSearch(next && next !== "status" ? { tab: next } : {}, { replace: true })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="status">Status</Tabs.Tab>
          <Tabs.Tab value="health">Health</Tabs.Tab>
          {mayReadUsers && (
            <>
              <Tabs.Tab value="users">Users</Tabs.Tab>
              <Tabs.Tab value="audit-log">Audit log</Tabs.Tab>
            </>
          )}
        </Tabs.List>
        <Tabs.Panel value="status">
          <Stack gap="md">
            <BusinessStatus business={business} />
            <BusinessWallet business={business} />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="health">
          <BusinessHealthPart businessId={business.id} />
        </Tabs.Panel>
        <Tabs.Panel value="users">
          <BusinessPeople businessId={business.id} />
        </Tabs.Panel>
        <Tabs.Panel value="audit-log">
          <BusinessAuditLog businessId={business.id} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

import { Anchor, Stack } from "@mantine/core";
import { Link, useParams } from "react-router-dom";
import { useApproval } from "../../api/operator-approvals";
import { useOperatorSession } from "../../api/operator-session";
import type { Approval } from "../../api/types";
import { BackLink } from "../../components/back-link";
import { InlineCode } from "../../components/code-block";
import { ErrorState } from "../../components/error-state";
import { Fact, Facts } from "../../components/facts";
import { Loading } from "../../components/loading";
import { Money } from "../../components/money";
import { PageHeader } from "../../components/page-header";
import { Section } from "../../components/section";
import { StatusBadge } from "../../components/status-badge";
import { Time } from "../../components/time";
import { statusLabel } from "../../format/status-label";
import { ApprovalActions } from "./approval-actions";
import {
  approvalState,
  approvalTitle,
  coveredCredits,
  isAlreadyBooked,
  requesterName,
} from "./approval-labels";
import { BUSINESS_STATUSES } from "./business-labels";

export function Component() {
  const { approvalId = "" } = useParams();
  const { data: approval, error, refetch } = useApproval(approvalId);
  return (
    <>
      <BackLink to="/operator/approvals">Approvals</BackLink>
      {approval ? (
        <ApprovalParts approval={approval} />
      ) : error ? (
        <ErrorState error={error} title="The request could not be loaded" onRetry={() => refetch()} />
      ) : (
        <Loading what="Loading the request" height={280} radius="lg" />
      )}
    </>
  );
}

function ApprovalParts({ approval }: { approval: Approval }) {
  return (
    <>
      <PageHeader title={approvalTitle(approval)} />
      <Stack gap="md">
        <Section title="Request" actions={<StatusBadge pill {...approvalState(approval)} />}>
          <Facts>
            <Fact name="Business">
              {approval.businessId && (
                <Anchor component={Link} to={`/operator/businesses/${approval.businessId}`}>
                  {approval.businessName ?? approval.businessId}
                </Anchor>
              )}
            </Fact>
            <Parameters approval={approval} />
            <Fact name="Requested by">{requesterName(approval)}</Fact>
            <Fact name="Requested">
              <Time at={approval.requestedAt} />
            </Fact>
            <Fact name="Ends">{approval.expiresAt && <Time at={approval.expiresAt} />}</Fact>
            {approval.outcome === "suspension_ended" && (
              <Fact name="Why it failed">The suspension ended before this request was decided.</Fact>
            )}
          </Facts>
        </Section>
        {approval.decidedBy && <Decision approval={approval} />}
        <ApprovalActions approval={approval} />
      </Stack>
    </>
  );
}

/** Exactly what is executed. */
function Parameters({ approval }: { approval: Approval }) {
  switch (approval.kind) {
    case "credit":
      return (
        <>
          <Fact name="Amount">
            <Money paise={approval.parameters.amountPaise} />
          </Fact>
          <Fact name="Reference">{approval.parameters.reference}</Fact>
        </>
      );
    case "debit":
      return (
        <>
          <Fact name="Amount">
            <Money paise={approval.parameters.amountPaise} />
          </Fact>
          <Fact name="Reference">{approval.parameters.reference}</Fact>
          <Fact name="Reason of the debit">{approval.parameters.reason}</Fact>
          <Fact name="Takes back">
            {approval.parameters.reverses && <InlineCode>{approval.parameters.reverses}</InlineCode>}
          </Fact>
        </>
      );
    case "raise_limit":
      return (
        <LimitFacts
          abovePaise={approval.parameters.creditsAbovePaise}
          isPending={approval.state === "pending"}
        />
      );
    case "lift_suspension": {
      const { status, subscriptionActive, liveAccess } = approval.parameters;
      return (
        <>
          <Fact name="Business becomes">{status && statusLabel(BUSINESS_STATUSES, status).label}</Fact>
          <Fact name="Subscription">{onOff(subscriptionActive)}</Fact>
          <Fact name="Live access">{onOff(liveAccess)}</Fact>
        </>
      );
    }
    case "issue_reset_link":
      return <Fact name="User">{approval.userEmail ?? "Removed"}</Fact>;
  }
}

/** The limit in force says nothing about a request that has ended. */
function LimitFacts({ abovePaise, isPending }: { abovePaise: number | null; isPending: boolean }) {
  const policy = useOperatorSession().data?.approvals;
  const setting = policy?.creditsAboveMaxPaise;
  if (!isPending) {
    const asked = abovePaise === null ? "Removal of the limit" : limitText(abovePaise);
    return <Fact name="Asked for">{asked}</Fact>;
  }
  return (
    <>
      <Fact name="Limit now">{policy && limitText(policy.creditsAbovePaise)}</Fact>
      <Fact name="Limit afterwards">{limitText(abovePaise ?? setting)}</Fact>
    </>
  );
}

function limitText(abovePaise: number | null | undefined): string {
  if (typeof abovePaise !== "number") return "Credits and debits need no second person";
  return `A second person must approve ${coveredCredits(abovePaise)}`;
}

function onOff(value: boolean | null | undefined): string | null {
  if (value === null || value === undefined) return null;
  return value ? "Activated" : "Ended";
}

function Decision({ approval }: { approval: Approval }) {
  return (
    <Section title="Decision">
      <Facts>
        <Fact name={approval.state === "rejected" ? "Rejected by" : "Approved by"}>
          {approval.decidedBy?.name}
        </Fact>
        <Fact name="Decided">
          <Time at={approval.decidedAt} />
        </Fact>
        <Fact name="Reason">{approval.reason}</Fact>
        <Outcome approval={approval} />
      </Facts>
    </Section>
  );
}

function Outcome({ approval }: { approval: Approval }) {
  if (isAlreadyBooked(approval)) {
    return (
      <Fact name="Nothing was moved">
        Another request or call with this reference moved the amount on <Time at={approval.bookedAt} />.
      </Fact>
    );
  }
  return (
    <Fact name={approval.state === "failed" ? "Refused by the wallet" : "Transfer"}>
      {approval.outcome && <InlineCode>{approval.outcome}</InlineCode>}
    </Fact>
  );
}

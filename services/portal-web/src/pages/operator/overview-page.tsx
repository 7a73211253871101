import { Anchor, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router-dom";
import { type OperatorHome, useOperatorHome } from "../../api/home";
import { useMay } from "../../api/operator-session";
import { ErrorState } from "../../components/error-state";
import { Figure, Figures } from "../../components/figures";
import { Loading } from "../../components/loading";
import { Money } from "../../components/money";
import { PageHeader } from "../../components/page-header";
import { Section } from "../../components/section";
import { Time, useToday } from "../../components/time";
import { orderCount } from "../../format/cash-labels";
import { joinList, serviceName } from "../../format/service-names";
import { planName } from "../subscription/plan-name";
import classes from "./business.module.css";

/** The most entries of a list. */
const LISTED_MAX = 20;
const SIGN_UPS = "new-sign-ups";
const PLAN_REQUESTS = "requested-plans";
const ASKED_AGAIN = ", asked again after a refusal";

export function Component() {
  const home = useOperatorHome(useToday());
  return (
    <>
      <PageHeader title="Overview" description="What waits for you, and which businesses need attention." />
      {home.data ? (
        <Parts home={home.data} />
      ) : home.error ? (
        <ErrorState
          error={home.error}
          title="The overview could not be loaded"
          onRetry={() => home.refetch()}
        />
      ) : (
        <Loading what="Loading the overview" height={420} radius="lg" />
      )}
    </>
  );
}

function Parts({ home }: { home: OperatorHome }) {
  const { signUps, planRequests, failingEndpoints, lowBalances, lateCash, approvals, incomplete } = home;
  const { attention, openDiscrepancies, closedWithMoney } = home;
  const readsOrders = useMay("read_orders");
  return (
    <Stack gap="lg">
      {incomplete.length > 0 && (
        <Text c="var(--tone-warn)" role="status">
          Not responding: {joinList(incomplete.map(serviceName))}. Their lists are missing below. This page
          retries automatically.
        </Text>
      )}
      <Figures label="Totals" narrow>
        {/* The list of businesses has no filter that leaves out the refused ones. */}
        <Figure name="New sign-ups" to={`#${SIGN_UPS}`} hint="Wait for your approval">
          {many(signUps.length)}
        </Figure>
        <Figure name="Plans requested" to={`#${PLAN_REQUESTS}`} hint="Wait for you">
          {many(planRequests.length)}
        </Figure>
        {typeof approvals === "number" && (
          <Figure name="Requests for approval" to="/operator/approvals" hint="Wait for a second person">
            {many(approvals)}
          </Figure>
        )}
        <Figure
          name="Needs attention"
          {...(readsOrders && { to: "/operator/exceptions" })}
          hint="Live orders that do not move on"
        >
          {attention ? counted([attention.failed, attention.unassigned, attention.stuck]) : many(undefined)}
        </Figure>
        <Figure name="Failing endpoints">{many(failingEndpoints?.length)}</Figure>
        <Figure name="Low balances">{many(lowBalances?.length)}</Figure>
        <Figure name="Cash late" to="/operator/cash" hint="Businesses whose promised day is over">
          {many(lateCash?.length)}
        </Figure>
        <Figure name="Cash discrepancies" to="/operator/cash" hint="Orders that nobody has closed">
          {typeof openDiscrepancies === "number" ? counted([openDiscrepancies]) : many(undefined)}
        </Figure>
      </Figures>
      <List id={SIGN_UPS} title="New sign-ups" empty="No business waits for approval.">
        {signUps.map(({ id, name, createdAt, askedAgain }) => (
          <Row key={id} id={id} name={name}>
            signed up <Time at={createdAt} relative />
            {askedAgain && ASKED_AGAIN}
          </Row>
        ))}
      </List>
      <List
        id={PLAN_REQUESTS}
        title="Requested plans"
        empty="No business waits for a plan."
        all="/operator/businesses?subscription=requested"
      >
        {planRequests.map(({ id, name, requestedPlan, askedAgain }) => (
          <Row key={id} id={id} name={name}>
            {requestedPlan && planName(requestedPlan)}
            {askedAgain && ASKED_AGAIN}
          </Row>
        ))}
      </List>
      <List title="Failing endpoints" empty="Every endpoint receives its webhooks.">
        {failingEndpoints?.map(({ businessId, name, failingSince }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a business can have several, which look the same
          <Row key={index} id={businessId} name={name} tab="health">
            fails since <Time at={failingSince} relative />
          </Row>
        ))}
      </List>
      <List
        title="Low balances"
        empty="Every funded wallet is above its warning. One that was never funded is not listed."
      >
        {lowBalances?.map(({ businessId, name, balancePaise, owedPaise }) => (
          <Row key={businessId} id={businessId} name={name}>
            <Money paise={balancePaise} />
            {owedPaise > 0 && (
              <>
                , owes <Money paise={owedPaise} />
              </>
            )}
          </Row>
        ))}
      </List>
      <List title="Closed with money" empty="No closed business has a balance.">
        {closedWithMoney?.map(({ businessId, name, balancePaise }) => (
          <Row key={businessId} id={businessId} name={name} tab="closing">
            <Money paise={balancePaise} /> arrived after the closing: pay it out
          </Row>
        ))}
      </List>
      <List title="Cash late" empty="No cash is past its promised day.">
        {lateCash?.map(({ businessId, name, orders, amountPaise, dueSince }) => (
          <Row key={businessId} id={businessId} name={name}>
            <Anchor component={Link} to={`/operator/cash/${businessId}?late=true`} size="sm">
              <Money paise={amountPaise} /> of {orderCount(orders)}
            </Anchor>
            , the oldest due <Time at={dueSince} relative />
          </Row>
        ))}
      </List>
    </Stack>
  );
}

/** The services stop counting here. */
const COUNTED_MAX = 1000;

/** In all. */
function counted(counts: number[]): string {
  const sum = counts.reduce((all, count) => all + count, 0);
  return `${sum.toLocaleString("en-IN")}${counts.some((count) => count >= COUNTED_MAX) ? " or more" : ""}`;
}

function many(count: number | undefined): ReactNode {
  if (count === undefined)
    return (
      <Text inherit component="span" c="dimmed">
        Unavailable
      </Text>
    );
  return count >= LISTED_MAX ? `${LISTED_MAX} or more` : count;
}

interface ListProps {
  id?: string;
  title: string;
  empty: string;
  /** The page of all entries, if there may be more than the listed ones. */
  all?: string;
  /** None if the service does not respond. */
  children: ReactNode[] | undefined;
}

function List({ id, title, empty, all, children }: ListProps) {
  const isFull = children !== undefined && children.length >= LISTED_MAX;
  const toAll = all && isFull && (
    <Anchor component={Link} to={all} size="sm">
      All
    </Anchor>
  );
  return (
    <Section id={id} title={title} actions={toAll} flush>
      <ul className={classes.problems} aria-label={title}>
        {children === undefined || children.length === 0 ? (
          <li className={classes.problem}>
            <Text c="dimmed">{children ? empty : "Unavailable: the service does not respond."}</Text>
          </li>
        ) : (
          children
        )}
      </ul>
    </Section>
  );
}

interface RowProps {
  id: string;
  name: string;
  tab?: string;
  children: ReactNode;
}

function Row({ id, name, tab, children }: RowProps) {
  const search = tab ? `?tab=${tab}` : "";
  return (
    <li className={classes.problem}>
      <span style={{ overflowWrap: "anywhere" }}>
        <Anchor component={Link} to={`/operator/businesses/${id}${search}`} size="sm" fw={500}>
          {name}
        </Anchor>{" "}
        <Text span c="dimmed">
          {children}
        </Text>
      </span>
    </li>
  );
}

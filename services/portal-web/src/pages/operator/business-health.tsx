import { Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconCircleCheck } from "@tabler/icons-react";
import { type BusinessHealth, useBusinessHealth } from "../../api/operator-businesses";
import { ErrorState } from "../../components/error-state";
import { Figure, Figures } from "../../components/figures";
import { Loading } from "../../components/loading";
import { Section } from "../../components/section";
import { StatusBadge } from "../../components/status-badge";
import { Time } from "../../components/time";
import { joinList, serviceName } from "../../format/service-names";
import { INDICATORS, toneOf } from "../overview/indicator-tones";
import classes from "./business.module.css";
import { HealthEndpoints } from "./health-endpoints";

/** The health of a business's integration. */
export function BusinessHealthPart({ businessId }: { businessId: string }) {
  const { data: health, error, refetch } = useBusinessHealth(businessId);
  if (!health) {
    if (error)
      return <ErrorState error={error} title="The health could not be loaded" onRetry={() => refetch()} />;
    return <Loading what="Loading the health" height={380} radius="lg" />;
  }
  return (
    <Stack gap="md">
      {health.incomplete.length > 0 && (
        <Text c="var(--tone-warn)" role="status">
          Not responding: {joinList(health.incomplete.map(serviceName))}. Their data is missing below.
        </Text>
      )}
      <Problems problems={health.problems} />
      {health.orders && <Orders orders={health.orders} />}
      {health.indicators && <Indicators indicators={health.indicators} />}
      {health.endpoints && <HealthEndpoints endpoints={health.endpoints} />}
    </Stack>
  );
}

function Problems({ problems }: Pick<BusinessHealth, "problems">) {
  return (
    <Section title="Problems" flush>
      <ul className={classes.problems}>
        {problems.length === 0 ? (
          <li className={classes.problem}>
            <IconCircleCheck size={17} aria-hidden style={{ color: "var(--tone-good)" }} />
            No problems found.
          </li>
        ) : (
          problems.map((problem) => (
            <li key={`${problem.code} ${problem.message}`} className={classes.problem}>
              <IconAlertTriangle size={17} aria-hidden />
              {problem.message}
            </li>
          ))
        )}
      </ul>
    </Section>
  );
}

function Orders({ orders }: { orders: NonNullable<BusinessHealth["orders"]> }) {
  return (
    <Figures label="Orders">
      <Figure name="Live orders" hint={<Last at={orders.live.lastAt} />}>
        {orders.live.last24h} in 24 h
      </Figure>
      <Figure name="Live, payment pending" hint="Not placed yet">
        {orders.live.pending}
      </Figure>
      <Figure name="Test orders" hint={<Last at={orders.test.lastAt} />}>
        {orders.test.last24h} in 24 h
      </Figure>
    </Figures>
  );
}

function Last({ at }: { at?: string | null }) {
  if (!at) return "None yet";
  return (
    <>
      Last <Time at={at} relative />
    </>
  );
}

function Indicators({ indicators }: { indicators: NonNullable<BusinessHealth["indicators"]> }) {
  return (
    <Section title="Indicators" description="As shown on the business’s overview.">
      <dl className={classes.indicators}>
        {INDICATORS.map(({ name, title }) => (
          <div key={name}>
            <dt>{title}</dt>
            <dd>
              <StatusBadge tone={toneOf(indicators[name].code)} label={indicators[name].label} />
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

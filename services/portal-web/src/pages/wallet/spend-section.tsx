import { SegmentedControl } from "@mantine/core";
import { useState } from "react";
import { useSpend } from "../../api/wallet";
import { ErrorState } from "../../components/error-state";
import { Loading } from "../../components/loading";
import { Section } from "../../components/section";
import { SpendChart } from "./spend-chart";

const PERIODS = [
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
];

/** Delivery fees and fees of further attempts, per day. */
export function SpendSection() {
  const [period, setPeriod] = useState("30");
  const { data: spend, error, refetch } = useSpend(Number(period));
  return (
    <Section
      title="Spend per day"
      description="Delivery fees of live orders and fees of further attempts, paid or owed, by the day they were due."
      actions={
        <SegmentedControl size="xs" data={PERIODS} value={period} onChange={setPeriod} aria-label="Period" />
      }
    >
      {spend ? (
        <SpendChart spend={spend} />
      ) : error ? (
        <ErrorState error={error} title="The spend could not be loaded" onRetry={() => refetch()} />
      ) : (
        <Loading what="Loading the spend" height={228} />
      )}
    </Section>
  );
}

import { Button } from "@mantine/core";
import { type TopUp, usePendingTopUps } from "../../api/wallet";
import { type Column, DataTable } from "../../components/data-table";
import { Money } from "../../components/money";
import { Section } from "../../components/section";
import { Time } from "../../components/time";
import { formatPaise } from "../../format/money";

interface PendingTopUpsProps {
  canPay: boolean;
  /** Opens the payment. */
  onPay: (topUp: TopUp) => void;
}

/** The top-ups that wait for their payment, if any. Too many of them stop new ones. */
export function PendingTopUps({ canPay, onPay }: PendingTopUpsProps) {
  const { data: pending = [] } = usePendingTopUps();
  if (pending.length === 0) return null;
  const pay: Column<TopUp> = {
    key: "pay",
    header: "Actions",
    align: "end",
    actions: true,
    render: (topUp) => (
      <Button
        variant="default"
        size="xs"
        aria-label={`Pay the top-up of ${formatPaise(topUp.amountPaise)}`}
        onClick={() => onPay(topUp)}
      >
        Pay
      </Button>
    ),
  };
  return (
    <Section
      title="Pending top-ups"
      description="They wait for their payment. Without one, the oldest makes room for a new top-up after an hour."
      flush
    >
      <DataTable
        label="Pending top-ups"
        columns={canPay ? [...COLUMNS, pay] : COLUMNS}
        rows={pending}
        rowKey={(topUp) => topUp.id}
        empty={null}
      />
    </Section>
  );
}

const COLUMNS: Column<TopUp>[] = [
  { key: "amount", header: "Amount", lead: true, render: (topUp) => <Money paise={topUp.amountPaise} /> },
  { key: "started", header: "Started", render: (topUp) => <Time at={topUp.createdAt} relative /> },
];

import { Button, Stack } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useParams } from "react-router-dom";
import { type RemittedOrder, useRemittance } from "../../api/cash";
import { BackLink } from "../../components/back-link";
import { type Column, DataTable } from "../../components/data-table";
import { DenseCard } from "../../components/dense-card";
import { ErrorState } from "../../components/error-state";
import { Figure, Figures } from "../../components/figures";
import { Loading } from "../../components/loading";
import { Money, moneyColumn } from "../../components/money";
import { PageHeader } from "../../components/page-header";
import { Section } from "../../components/section";
import { formatDay } from "../../format/day";
import { OrderLink } from "./order-link";

/** One bank transfer, with the orders that it paid out. */
export function Component() {
  const { remittanceId = "" } = useParams();
  const { data: remittance, error, refetch } = useRemittance(remittanceId);
  return (
    <>
      <BackLink to="/cash-on-delivery">Cash on delivery</BackLink>
      {remittance ? (
        <>
          <PageHeader
            title={`Bank transfer ${remittance.bankReference}`}
            actions={
              <Button
                component="a"
                href={`/v1/portal/remittances/${remittance.id}/orders.csv`}
                download
                variant="default"
                leftSection={<IconDownload size={16} aria-hidden />}
              >
                Download CSV
              </Button>
            }
          />
          <Stack gap="md">
            <Figures label="The bank transfer">
              <Figure name="Amount">
                <Money paise={remittance.totalPaise} />
              </Figure>
              <Figure name="Paid on">{formatDay(remittance.paidOn)}</Figure>
              <Figure name="Orders">{remittance.orders}</Figure>
            </Figures>
            <Section title="Orders" flush>
              <DataTable
                label="Orders of the bank transfer"
                columns={COLUMNS}
                card={(line) => <LineCard line={line} />}
                rows={remittance.lines}
                rowKey={(line) => line.orderId}
                empty={null}
              />
            </Section>
          </Stack>
        </>
      ) : error ? (
        <ErrorState error={error} title="The bank transfer could not be loaded" onRetry={() => refetch()} />
      ) : (
        <Loading what="Loading the bank transfer" height={280} radius="lg" />
      )}
    </>
  );
}

const COLUMNS: Column<RemittedOrder>[] = [
  { key: "order", header: "Order", lead: true, render: (line) => <OrderLink of={line} /> },
  moneyColumn<RemittedOrder>("handedOver", "Handed over", "20%", ({ handedOverPaise }) => handedOverPaise),
  moneyColumn<RemittedOrder>("paid", "Paid out", "20%", ({ amountPaise }) => amountPaise),
  { key: "note", header: "Note", width: "30%", render: ({ note }) => note ?? "–" },
];

/** A row on a phone. */
function LineCard({ line }: { line: RemittedOrder }) {
  return (
    <DenseCard>
      <OrderLink of={line} />
      <Money paise={line.amountPaise} />
      <span>
        Handed over: <Money paise={line.handedOverPaise} />
      </span>
      <span />
      <span>{line.note}</span>
    </DenseCard>
  );
}

import { Anchor, Button } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { Link } from "react-router-dom";
import type { components } from "../api/schema";
import { orderCount } from "../format/cash-labels";
import { formatDay } from "../format/day";
import type { Column } from "./data-table";
import { DenseCard } from "./dense-card";
import { Money, moneyColumn } from "./money";

type Remittance = components["schemas"]["RemittanceView"];

/** Bank transfers, for the business and for the operator. `path` leads to a page of one. */
export function remittanceColumns(
  csvUrl: (id: string) => string,
  path?: (id: string) => string,
): Column<Remittance>[] {
  return [
    {
      key: "reference",
      header: "Bank reference",
      lead: true,
      render: (remittance) => <Reference remittance={remittance} path={path} />,
    },
    { key: "day", header: "Paid on", width: "20%", render: ({ paidOn }) => formatDay(paidOn) },
    { key: "orders", header: "Orders", width: "12%", align: "end", render: ({ orders }) => orders },
    moneyColumn<Remittance>("total", "Amount", "20%", ({ totalPaise }) => totalPaise),
    {
      key: "csv",
      header: "Download",
      width: "16%",
      align: "end",
      actions: true,
      render: ({ id, bankReference }) => (
        <Button
          component="a"
          href={csvUrl(id)}
          download
          variant="default"
          size="xs"
          aria-label={`Download ${bankReference} as CSV`}
          leftSection={<IconDownload size={14} aria-hidden />}
        >
          CSV
        </Button>
      ),
    },
  ];
}

interface ReferenceProps {
  remittance: Remittance;
  path: ((id: string) => string) | undefined;
}

function Reference({ remittance: { id, bankReference }, path }: ReferenceProps) {
  if (!path) return <span>{bankReference}</span>;
  return (
    <Anchor component={Link} to={path(id)} size="sm">
      {bankReference}
    </Anchor>
  );
}

/** A row on a phone. */
export function remittanceCard(csvUrl: (id: string) => string, path?: (id: string) => string) {
  return (remittance: Remittance) => {
    const { id, bankReference, paidOn, orders, totalPaise } = remittance;
    return (
      <DenseCard>
        <Reference remittance={remittance} path={path} />
        <Money paise={totalPaise} />
        <span>
          {formatDay(paidOn)}, {orderCount(orders)}
        </span>
        <Anchor href={csvUrl(id)} download aria-label={`Download ${bankReference} as CSV`}>
          CSV
        </Anchor>
      </DenseCard>
    );
  };
}

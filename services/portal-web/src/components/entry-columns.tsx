import { Anchor, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router-dom";
import type { WalletEntry } from "../api/wallet";
import { entryName } from "../format/entry-labels";
import { formatPaise } from "../format/money";
import { formatDate } from "../format/time";
import { InlineCode } from "./code-block";
import type { Column } from "./data-table";
import { DenseCard } from "./dense-card";
import classes from "./entry-columns.module.css";
import { Money, moneyColumn } from "./money";
import { Time } from "./time";

/** The columns of a statement. The console has no pages of orders. */
export function entryColumns({ linksOrders }: { linksOrders: boolean }): Column<WalletEntry>[] {
  return [
    {
      key: "what",
      header: "Entry",
      lead: true,
      render: (entry) => <What entry={entry} linksOrders={linksOrders} />,
    },
    { key: "at", header: "Time", width: "22%", render: (entry) => <Time at={entry.createdAt} /> },
    { key: "amount", header: "Amount", width: "18%", align: "end", render: amount },
    moneyColumn<WalletEntry>("balance", "Balance after", "18%", (entry) => entry.balanceAfterPaise),
  ];
}

interface EntryCardProps {
  entry: WalletEntry;
  linksOrders: boolean;
  action?: ReactNode;
}

/** A row on a phone. An entry that corrects another, or is corrected, is taller. */
export function EntryCard({ entry, linksOrders, action }: EntryCardProps) {
  return (
    <DenseCard>
      <Text fw={500} c="var(--mantine-color-text)">
        {entryName(entry.kind, entry.reference)}
      </Text>
      <span>{amount(entry)}</span>
      <span>{entry.orderId ? <OrderOf entry={entry} isLink={linksOrders} /> : entry.reference}</span>
      <span>
        Balance <Money paise={entry.balanceAfterPaise} />
      </span>
      <Time at={entry.createdAt} />
      <span>{action}</span>
      <div style={{ gridColumn: "1 / -1", whiteSpace: "normal" }}>
        <Correction entry={entry} />
      </div>
    </DenseCard>
  );
}

function What({ entry, linksOrders }: { entry: WalletEntry; linksOrders: boolean }) {
  return (
    <div className={classes.entry}>
      <Text fw={500}>{entryName(entry.kind, entry.reference)}</Text>
      <Text size="xs" c="dimmed" component="div">
        {entry.orderId ? (
          <OrderOf entry={entry} isLink={linksOrders} />
        ) : (
          entry.reference && <InlineCode>{entry.reference}</InlineCode>
        )}
        <Correction entry={entry} />
      </Text>
    </div>
  );
}

/** What the entry takes back and why, and what was taken back of it. */
function Correction({ entry }: { entry: WalletEntry }) {
  return (
    <>
      {entry.takesBack && (
        <div>
          Takes back: <Deposit deposit={entry.takesBack} />
        </div>
      )}
      {entry.reason && <div className={classes.reason}>Reason: {entry.reason}</div>}
      <Left entry={entry} />
    </>
  );
}

function OrderOf({ entry, isLink }: { entry: WalletEntry; isLink: boolean }) {
  const name = entry.orderReference ?? entry.orderId;
  if (!isLink) return <>Order {name}</>;
  return (
    <>
      Order{" "}
      <Anchor component={Link} to={`/orders/${entry.orderId}`} size="xs">
        {name}
      </Anchor>
    </>
  );
}

/** The entry that a debit corrects. */
export function Deposit({ deposit }: { deposit: NonNullable<WalletEntry["takesBack"]> }) {
  const { kind, orderId, reference, createdAt } = deposit;
  const name = reference ?? orderId;
  return (
    <>
      {entryName(kind, reference)} {name && <InlineCode>{name}</InlineCode>}{" "}
      <span className={classes.date}>of {formatDate(createdAt)}</span>
    </>
  );
}

/** What debits took back of this entry. */
function Left({ entry: { amountPaise, leftPaise } }: { entry: WalletEntry }) {
  if (typeof leftPaise !== "number" || leftPaise === amountPaise) return null;
  if (leftPaise === 0) return <div>Taken back in full</div>;
  return (
    <div>
      {formatPaise(amountPaise - leftPaise)} taken back, {formatPaise(leftPaise)} left
    </div>
  );
}

function amount({ amountPaise, owedPaise }: WalletEntry) {
  // A debt moves nothing in the wallet.
  if (amountPaise === 0) {
    return (
      <>
        <Money paise={owedPaise} /> owed
      </>
    );
  }
  return (
    <span className={amountPaise > 0 ? classes.in : undefined}>
      <Money paise={amountPaise} moves />
    </span>
  );
}

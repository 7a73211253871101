import { Anchor, Text } from "@mantine/core";
import { Link } from "react-router-dom";
import type { WalletEntry } from "../../api/wallet";
import { hasPage } from "../../app/navigation";
import { InlineCode } from "../../components/code-block";
import type { Column } from "../../components/data-table";
import { Money } from "../../components/money";
import { Time } from "../../components/time";
import { ENTRY_KINDS } from "./entry-labels";
import classes from "./wallet.module.css";

/** The columns of the statement. */
export const ENTRY_COLUMNS: Column<WalletEntry>[] = [
  { key: "what", header: "Entry", lead: true, render: (entry) => <What entry={entry} /> },
  { key: "at", header: "Time", width: "24%", render: (entry) => <Time at={entry.createdAt} /> },
  { key: "amount", header: "Amount", width: "18%", align: "end", render: amount },
  {
    key: "balance",
    header: "Balance after",
    width: "18%",
    align: "end",
    render: (entry) => <Money paise={entry.balanceAfterPaise} />,
  },
];

function What({ entry }: { entry: WalletEntry }) {
  return (
    <div className={classes.entry}>
      <Text fw={500}>{ENTRY_KINDS[entry.kind] ?? entry.kind}</Text>
      <Text size="xs" c="dimmed" component="div">
        {entry.orderId ? (
          <OrderOf entry={entry} />
        ) : (
          entry.reference && <InlineCode>{entry.reference}</InlineCode>
        )}
      </Text>
    </div>
  );
}

function OrderOf({ entry }: { entry: WalletEntry }) {
  const name = entry.orderReference ?? entry.orderId;
  if (!hasPage("/orders")) return <>Order {name}</>;
  return (
    <>
      Order{" "}
      <Anchor component={Link} to={`/orders/${entry.orderId}`} size="xs">
        {name}
      </Anchor>
    </>
  );
}

function amount({ amountPaise }: WalletEntry) {
  return (
    <span className={amountPaise > 0 ? classes.in : undefined}>
      <Money paise={amountPaise} moves />
    </span>
  );
}

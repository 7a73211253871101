import { Anchor, Group, VisuallyHidden } from "@mantine/core";
import { Link } from "react-router-dom";
import type { OpenItem, OpenItems } from "../api/types";
import { formatPaise } from "../format/money";
import { Fact, Facts } from "./facts";
import { StatusBadge } from "./status-badge";

/** Where each item is settled, or looked at. */
export type ItemLinks = Partial<Record<OpenItem, string>>;

interface ClosingItemsProps {
  open: OpenItems;
  unsettled: OpenItem[];
  links: ItemLinks;
}

/** What a business has open in all services. */
export function ClosingItems({ open, unsettled, links }: ClosingItemsProps) {
  return (
    <Facts>
      {ITEMS.map(({ item, label, told }) => {
        const [text, to] = [told(open), links[item]];
        const tone = unsettled.includes(item) ? "warn" : text === NONE ? "good" : "info";
        return (
          <Fact key={item} name={label}>
            <Group gap="xs">
              <StatusBadge tone={tone} label={text} />
              {to && text !== NONE && (
                <Anchor component={Link} to={to} size="sm">
                  Open<VisuallyHidden> {label}</VisuallyHidden>
                </Anchor>
              )}
            </Group>
          </Fact>
        );
      })}
    </Facts>
  );
}

const NONE = "None";

function count(number: number, max = Number.POSITIVE_INFINITY): string {
  if (number === 0) return NONE;
  return number >= max ? `${max} or more` : String(number);
}

function amount(paise: number): string {
  return paise === 0 ? NONE : formatPaise(paise);
}

function cash({ cashOrders, cashPaise }: OpenItems): string {
  if (cashOrders === 0) return NONE;
  return `${formatPaise(cashPaise)} of ${cashOrders} ${cashOrders === 1 ? "order" : "orders"}`;
}

const ITEMS: { item: OpenItem; label: string; told: (open: OpenItems) => string }[] = [
  { item: "live_orders", label: "Live orders on their way", told: (open) => count(open.liveOrders, 1_000) },
  {
    item: "failed_deliveries",
    label: "Parcels after failed deliveries",
    told: (open) => count(open.failedDeliveries, 1_000),
  },
  { item: "undecided_payments", label: "Undecided payments", told: (open) => count(open.undecidedPayments) },
  { item: "cash", label: "Cash to settle", told: cash },
  { item: "cash_discrepancies", label: "Cash discrepancies", told: (open) => count(open.cashDiscrepancies) },
  { item: "balance", label: "Balance to pay out", told: (open) => amount(open.balancePaise) },
  { item: "debt", label: "Owed by the business", told: (open) => amount(open.owedPaise) },
  { item: "approvals", label: "Requests for approval", told: (open) => count(open.approvals) },
  { item: "keys", label: "Working API keys", told: (open) => count(open.keys) },
  { item: "endpoints", label: "Webhook endpoints", told: (open) => count(open.endpoints) },
];

import { StatusBadge } from "../../components/status-badge";
import {
  COD_STATUSES,
  type CodStatus,
  DELIVERY_STATUSES,
  type DeliveryStatus,
} from "../../format/order-words";

export function DeliveryBadge({ status, pill }: { status: DeliveryStatus; pill?: boolean }) {
  const { tone, label } = DELIVERY_STATUSES[status];
  return <StatusBadge tone={tone} label={label} pill={pill} />;
}

export function CodBadge({ status }: { status: CodStatus }) {
  const { tone, label } = COD_STATUSES[status];
  return <StatusBadge tone={tone} label={label} />;
}

import { StatusBadge } from "../../components/status-badge";
import {
  COD_STATUSES,
  type CodStatus,
  DELIVERY_STATUSES,
  type DeliveryStatus,
} from "../../format/order-labels";

export function DeliveryBadge({ status, pill }: { status: DeliveryStatus; pill?: boolean }) {
  return <StatusBadge {...DELIVERY_STATUSES[status]} pill={pill} />;
}

export function CodBadge({ status }: { status: CodStatus }) {
  return <StatusBadge {...COD_STATUSES[status]} />;
}

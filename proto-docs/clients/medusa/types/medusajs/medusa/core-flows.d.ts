import type { MedusaContainer } from "../framework/types.js";

type Workflow<Input> = (container: MedusaContainer) => { run(given: { input: Input }): Promise<unknown> };

interface Ids {
  order_id: string;
  fulfillment_id: string;
}

interface Shipment extends Ids {
  items: { id: string; quantity: number }[];
  labels: { tracking_number: string; tracking_url: string; label_url: string }[];
}

export declare const createOrderShipmentWorkflow: Workflow<Shipment>;
export declare const cancelOrderFulfillmentWorkflow: Workflow<Ids>;
export declare const markOrderFulfillmentAsDeliveredWorkflow: Workflow<{
  orderId: string;
  fulfillmentId: string;
}>;
export declare const updateFulfillmentWorkflow: Workflow<{ id: string; metadata: Record<string, unknown> }>;

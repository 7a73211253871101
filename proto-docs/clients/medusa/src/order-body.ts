/** The body of a delivery: what Waybill gets of a Medusa order and the items of one fulfilment. */
import type { NewOrder } from "@waybill/client";
import { paiseOf, phoneOf, pincodeOf, quantityOf, textOf, weightOf } from "./values.js";

const NAME_CHARS = 200;
const ITEMS_MAX = 500;

export interface BodyOptions {
  /** The fee for each delivery. Without it, the price of the order's shipping method. */
  deliveryFeePaise?: number;
  /** The unit of the variants' weights; grams by default. */
  weightUnit?: "g" | "kg";
}

/** The fields that are read of Medusa's order. Their values may be missing or of any type. */
export interface MedusaOrder {
  id?: unknown;
  display_id?: unknown;
  currency_code?: unknown;
  total?: unknown;
  /** What the customer has paid of the total. */
  paid?: unknown;
  items?: unknown;
  shipping_address?: unknown;
  shipping_methods?: unknown;
}

export interface MedusaItem {
  line_item_id?: unknown;
  inventory_item_id?: unknown;
  quantity?: unknown;
  title?: unknown;
}

type Fields = Record<string, unknown>;
type Problem = (text: string) => void;

/** What a fulfilment contains of one line of the order. */
interface Content {
  line: Fields;
  title: unknown;
  quantity: number;
}

/** What has to be corrected in Medusa before the items can be fulfilled. */
export class UnusableOrderError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join(" "));
  }
}

/** `kind` is the id of the fulfilment option: `delivery` or `cod`. */
export function toWaybill(
  orderReference: string,
  kind: unknown,
  order: MedusaOrder,
  items: readonly MedusaItem[],
  shippingOptionId: unknown,
  options: BodyOptions,
): NewOrder {
  const problems: string[] = [];
  const problem: Problem = (text) => problems.push(text);
  const lines = listOf(order.items);
  const contents = contentOf(items, lines, problem);
  const address = fieldsOf(order.shipping_address);
  if (textOf(order.currency_code)?.toLowerCase() !== "inr") problem("The order's currency must be INR.");
  const body: NewOrder = {
    orderReference,
    orderSource: "medusa",
    customer: customerOf(address, problem),
    delivery: deliveryOf(address, problem),
    package: packageOf(contents, options),
    payment: paymentOf(
      kind,
      order,
      isWhole(contents, lines),
      feeOf(order, shippingOptionId, options, problem),
      problem,
    ),
    notes: { internalNote: `Medusa order ${String(order.display_id ?? order.id)}` },
  };
  if (problems.length > 0) throw new UnusableOrderError(problems);
  return body;
}

/** Identifies what a fulfilment contains, whatever the order of its items. */
export function contentsOf(items: readonly MedusaItem[]): string {
  return items
    .map(({ line_item_id, quantity }) => `${String(line_item_id)}:${quantityOf(quantity) ?? "?"}`)
    .sort()
    .join();
}

function customerOf(address: Fields, problem: Problem) {
  const names = [textOf(address.first_name), textOf(address.last_name)].filter((name) => name !== undefined);
  const name = textOf(names.join(" "), NAME_CHARS);
  if (!name) problem("The shipping address has no name.");
  const phone = phoneOf(address.phone);
  if (!phone) {
    const given = textOf(address.phone) !== undefined;
    problem(
      given
        ? "The phone number of the shipping address is unusable: write it with the country code, such as +91."
        : "The shipping address has no phone number: the driver needs one.",
    );
  }
  return { name: name ?? "", phone: phone ?? "" };
}

function deliveryOf(address: Fields, problem: Problem) {
  const required = (field: string, what: string, maxChars?: number) => {
    const text = textOf(address[field], maxChars);
    if (!text) problem(`The shipping address has no ${what}.`);
    return text ?? "";
  };
  const country = textOf(address.country_code);
  if (country && country.toLowerCase() !== "in") problem("Only addresses in India can be delivered to.");
  const pincode = pincodeOf(address.postal_code);
  if (!pincode) problem("The postal code of the shipping address must be a PIN code of six digits.");
  const details = [textOf(address.company), textOf(address.address_2)].filter((text) => text !== undefined);
  return {
    addressLine1: required("address_1", "street"),
    addressLine2: textOf(details.join(", ")) ?? null,
    city: required("city", "city", NAME_CHARS),
    state: required("province", "state (province)", NAME_CHARS),
    pincode: pincode ?? "",
  };
}

/** Medusa splits a line into the parts of its kit, each with the number of parts. */
function contentOf(items: readonly MedusaItem[], lines: readonly Fields[], problem: Problem): Content[] {
  const contents = new Map<unknown, Content>();
  for (const { line_item_id: id, inventory_item_id: partId, title, quantity: given } of items) {
    if (contents.has(id)) continue;
    const line = lines.find((each) => each.id === id) ?? {};
    const parts = listOf(fieldsOf(line.variant).inventory_items);
    const part = parts.find(({ inventory }) => fieldsOf(inventory).id === partId);
    const quantity = quantityOf((quantityOf(given) ?? 0) / (quantityOf(part?.required_quantity) ?? 1));
    if (!quantity) problem("Every quantity must be a whole number.");
    const fulfilled = quantityOf(fieldsOf(line.detail).fulfilled_quantity) ?? 0;
    // Medusa notices it after the delivery was created.
    if (quantity && quantity > (quantityOf(line.quantity) ?? 0) - fulfilled)
      problem("Fewer items are left to fulfil.");
    contents.set(id, { line, title, quantity: quantity ?? 1 });
  }
  return [...contents.values()];
}

function packageOf(contents: readonly Content[], { weightUnit = "g" }: BodyOptions) {
  const weights = contents.map(
    ({ line, quantity }) => quantity * (weightOf(fieldsOf(line.variant).weight) ?? 0),
  );
  // A sum that lacks an item would be wrong.
  const weight = weights.includes(0) ? 0 : weights.reduce((sum, each) => sum + each, 0);
  const items = contents.map(({ line, title, quantity }) => ({
    name: textOf(line.product_title, NAME_CHARS) ?? textOf(title, NAME_CHARS) ?? null,
    quantity,
    pricePaise: paiseOf(line.unit_price) ?? null,
  }));
  return {
    items: items.length <= ITEMS_MAX ? items : null,
    totalItems: contents.reduce((sum, { quantity }) => sum + quantity, 0),
    weightKg: Math.round(weightUnit === "kg" ? weight * 1_000 : weight) / 1_000 || null,
  };
}

function feeOf(
  order: MedusaOrder,
  shippingOptionId: unknown,
  { deliveryFeePaise }: BodyOptions,
  problem: Problem,
): number {
  const methods = listOf(order.shipping_methods);
  const method = methods.find(({ shipping_option_id: id }) => id === shippingOptionId) ?? methods[0];
  const fee = deliveryFeePaise ?? paiseOf(method?.amount);
  if (!fee) problem("The order's shipping is free: set deliveryFeePaise in medusa-config.");
  return fee ?? 0;
}

function paymentOf(
  kind: unknown,
  order: MedusaOrder,
  whole: boolean,
  deliveryFeePaise: number,
  problem: Problem,
): NewOrder["payment"] {
  if (kind === "delivery") return { paymentType: "prepaid", deliveryFeePaise };
  // Without the kind, cash might not be collected.
  if (kind !== "cod") problem("Fulfil the items with the shipping option that the customer chose.");
  const totalPaise = paiseOf(order.total);
  const paidPaise = paiseOf(order.paid ?? 0);
  if (totalPaise === undefined || paidPaise === undefined)
    problem("The order's total or its payments are no amount.");
  const codAmountPaise = Math.max((totalPaise ?? 0) - (paidPaise ?? 0), 0);
  if (!whole) problem("Cash on delivery: fulfil all items of the order at once.");
  return { paymentType: "cod", deliveryFeePaise, codAmountPaise };
}

function isWhole(contents: readonly Content[], lines: readonly Fields[]): boolean {
  return lines
    .filter((line) => line.requires_shipping !== false)
    .every((line) =>
      contents.some((each) => each.line === line && each.quantity >= (quantityOf(line.quantity) ?? 0)),
    );
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

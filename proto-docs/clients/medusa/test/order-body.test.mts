/** What a delivery gets of a Medusa order, and which orders are refused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type BodyOptions,
  contentsOf,
  type MedusaItem,
  toWaybill,
  UnusableOrderError,
} from "../src/order-body.js";
import { paiseOf, phoneOf, pincodeOf, quantityOf, textOf, weightOf } from "../src/values.js";

const ADDRESS = {
  first_name: "Asha",
  last_name: "Rao",
  phone: "098000 00001",
  company: "Malabar Coffee",
  address_1: "12th Main Road",
  address_2: "3rd floor",
  city: "Bengaluru",
  province: "Karnataka",
  postal_code: "560 038",
  country_code: "in",
};
const LINES = [
  { id: "li_1", quantity: 2, product_title: "Arabica", unit_price: 499.5, variant: { weight: 250 } },
  { id: "li_2", quantity: 1, product_title: "Filter", unit_price: "1200", variant: { weight: 0.4 } },
];
const ITEMS: MedusaItem[] = [
  { line_item_id: "li_1", quantity: 2, title: "250 g" },
  { line_item_id: "li_2", quantity: { numeric: 1 }, title: "Steel" },
];
const ORDER = {
  id: "order_1",
  display_id: 7,
  currency_code: "inr",
  total: 2248.005,
  items: LINES,
  shipping_address: ADDRESS,
  shipping_methods: [
    { shipping_option_id: "so_0", amount: 10 },
    { shipping_option_id: "so_1", amount: 49 },
  ],
};

function body(changes: object = {}, kind: unknown = "delivery", items = ITEMS, options: BodyOptions = {}) {
  return toWaybill("order_1-1", kind, { ...ORDER, ...changes }, items, "so_1", options);
}

function problems(...given: Parameters<typeof body>): readonly string[] {
  try {
    body(...given);
  } catch (error) {
    if (error instanceof UnusableOrderError) return error.problems;
    throw error;
  }
  return [];
}

const address = (changes: object) => ({ shipping_address: { ...ADDRESS, ...changes } });

test("an order becomes a delivery", () => {
  assert.deepEqual(body(), {
    orderReference: "order_1-1",
    orderSource: "medusa",
    customer: { name: "Asha Rao", phone: "+919800000001" },
    delivery: {
      addressLine1: "12th Main Road",
      addressLine2: "Malabar Coffee, 3rd floor",
      city: "Bengaluru",
      state: "Karnataka",
      pincode: "560038",
    },
    package: {
      items: [
        { name: "Arabica", quantity: 2, pricePaise: 49950 },
        { name: "Filter", quantity: 1, pricePaise: 120000 },
      ],
      totalItems: 3,
      weightKg: 0.5,
    },
    payment: { paymentType: "prepaid", deliveryFeePaise: 4900 },
    notes: { internalNote: "Medusa order 7" },
  });
});

test("options and cash on delivery", () => {
  const { payment } = body({}, "cod", ITEMS, { deliveryFeePaise: 100 });
  assert.deepEqual(payment, { paymentType: "cod", deliveryFeePaise: 100, codAmountPaise: 224801 });
  const cash = (paid: unknown) => body({ paid }, "cod").payment.codAmountPaise;
  assert.deepEqual([cash("0"), cash("248.00500"), cash(2248.005), cash("3000")], [224801, 200000, 0, 0]);
  assert.equal(body({}, "delivery", ITEMS, { weightUnit: "kg" }).package?.weightKg, 500.4);
  assert.equal(problems({ shipping_methods: [] }, "delivery", ITEMS, { deliveryFeePaise: 1 }).length, 0);
});

test("a kit counts once", () => {
  const inventory_items = [
    { required_quantity: 2, inventory: { id: "cup" } },
    { required_quantity: 4, inventory: { id: "spoon" } },
  ];
  const items = [{ ...LINES[0], variant: { weight: 250, inventory_items } }];
  const parts = [
    { line_item_id: "li_1", inventory_item_id: "cup", quantity: 4 },
    { line_item_id: "li_1", inventory_item_id: "spoon", quantity: 8 },
  ];
  const { package: parcel, payment } = body({ items }, "cod", parts);
  assert.deepEqual([parcel?.totalItems, parcel?.weightKg, payment.paymentType], [2, 0.5, "cod"]);
});

test("what is not shipped does not hinder cash on delivery", () => {
  const items = [...LINES, { id: "li_3", quantity: 1, requires_shipping: false }];
  assert.equal(body({ items }, "cod").payment.paymentType, "cod");
});

test("a weight that is not known for each item is left out", () => {
  for (const variant of [
    null,
    undefined,
    {},
    { weight: null },
    { weight: 0 },
    { weight: -5 },
    { weight: "x" },
  ]) {
    assert.equal(body({ items: [LINES[0], { ...LINES[1], variant }] }).package?.weightKg, null);
  }
});

const REFUSED: [string, RegExp, ...Parameters<typeof body>][] = [
  ["no address", /no name.*no phone.*PIN code.*no street.*no city.*no state/, { shipping_address: null }],
  ["no name", /no name/, address({ first_name: " ", last_name: null })],
  ["no phone", /no phone number/, address({ phone: null })],
  ["an empty phone", /no phone number/, address({ phone: " \t" })],
  ["a landline without its country", /unusable.*\+91/, address({ phone: "011 2345 6789" })],
  ["a phone of words", /unusable/, address({ phone: "call me" })],
  ["no street", /no street/, address({ address_1: "" })],
  ["no city", /no city/, address({ city: undefined })],
  ["no province", /no state/, address({ province: "\u0000" })],
  ["no postal code", /PIN code/, address({ postal_code: null })],
  ["a postal code of five digits", /PIN code/, address({ postal_code: "56003" })],
  ["a postal code that begins with 0", /PIN code/, address({ postal_code: "060038" })],
  ["another country", /India/, address({ country_code: "US" })],
  ["another currency", /INR/, { currency_code: "usd" }],
  ["no currency", /INR/, { currency_code: null }],
  ["free shipping", /deliveryFeePaise/, { shipping_methods: [{ amount: 0 }] }],
  ["no shipping method", /deliveryFeePaise/, { shipping_methods: null }],
  ["a negative price", /deliveryFeePaise/, { shipping_methods: [{ amount: -49 }] }],
  ["an unknown kind", /the customer chose/, {}, undefined],
  [
    "more than is left",
    /Fewer items/,
    { items: [{ ...LINES[0], detail: { fulfilled_quantity: 1 } }] },
    "delivery",
    ITEMS.slice(0, 1),
  ],
  ["more than was ordered", /Fewer items/, {}, "delivery", [{ line_item_id: "li_1", quantity: 3 }]],
  ["an unknown item", /Fewer items/, {}, "delivery", [{ line_item_id: "li_9", quantity: 1 }]],
  ["a part of a piece", /whole number/, {}, "delivery", [{ line_item_id: "li_1", quantity: 1.5 }]],
  ["no quantity", /whole number/, {}, "delivery", [{ line_item_id: "li_1" }]],
  ["cash for a part of the order", /all items/, {}, "cod", ITEMS.slice(1)],
  [
    "cash for a part of a line",
    /all items/,
    {},
    "cod",
    [{ line_item_id: "li_1", quantity: 1 }, ...ITEMS.slice(1)],
  ],
  ["no total", /total/, { total: Number.NaN }, "cod"],
  ["unusable payments", /payments/, { paid: "-5" }, "cod"],
];

for (const [name, reason, changes, ...others] of REFUSED) {
  test(`refused: ${name}`, () => {
    const kind = others.length > 0 ? others[0] : "delivery";
    assert.match(problems(changes, kind === undefined ? null : kind, others[1]).join(" "), reason);
  });
}

test("values", () => {
  const table: [(value: unknown) => unknown, unknown, unknown][] = [
    [paiseOf, 49, 4900],
    [paiseOf, 0, 0],
    [paiseOf, 0.1 + 0.2, 30],
    [paiseOf, 1.005, 101],
    [paiseOf, "49.994", 4999],
    [paiseOf, "49.995", 5000],
    [paiseOf, { numeric: 12.5, value: "9" }, 1250],
    [paiseOf, { value: "12.50", precision: 20 }, 1250],
    [paiseOf, -1, undefined],
    [paiseOf, 1e21, undefined],
    [paiseOf, Number.POSITIVE_INFINITY, undefined],
    [paiseOf, "1,000", undefined],
    [paiseOf, null, undefined],
    [quantityOf, "2", 2],
    [quantityOf, 0, undefined],
    [quantityOf, "", undefined],
    [quantityOf, 2.5, undefined],
    [weightOf, "0.25", 0.25],
    [weightOf, Number.NaN, undefined],
    [phoneOf, "+91 98000-00001", "+919800000001"],
    [phoneOf, "0091 9800000001", "+919800000001"],
    [phoneOf, "919800000001", "+919800000001"],
    [phoneOf, "9800000001", "+919800000001"],
    [phoneOf, "(+44) 20 7946 0000", "+442079460000"],
    [phoneOf, "1800000001", undefined],
    [phoneOf, "+91", undefined],
    [phoneOf, 9800000001, undefined],
    [pincodeOf, " 560038 ", "560038"],
    [textOf, " a\u0007\n b ", "a  b"],
    [textOf, "x".repeat(301), "x".repeat(300)],
    [textOf, 5, undefined],
  ];
  for (const [read, value, expected] of table) {
    assert.equal(read(value), expected, `${read.name}(${String(value)})`);
  }
});

test("the contents do not depend on the order of the items", () => {
  assert.equal(contentsOf(ITEMS), contentsOf([...ITEMS].reverse()));
  assert.notEqual(contentsOf(ITEMS), contentsOf(ITEMS.slice(1)));
});

/** What a shop needs before it can sell: a region, a stock location, shipping options, a product. */
import { type Answer, ok, type Shop } from "./shop.mjs";

export interface Catalogue {
  regionId: string;
  locationId: string;
  channelId: string;
  variantId: string;
  publishableKey: string;
  /** By their names. */
  shippingOptions: Record<"delivery" | "cod" | "expensive", string>;
}

export const ADDRESS = {
  first_name: "Asha",
  last_name: "Rao",
  phone: "98000 00001",
  address_1: "12th Main Road",
  city: "Bengaluru",
  province: "Karnataka",
  postal_code: "560038",
  country_code: "in",
};

export async function createCatalogue(shop: Shop): Promise<Catalogue> {
  const create = async (path: string, body: object) => ok(await shop.admin("POST", path, body));
  const inr = (amount: number) => [{ currency_code: "inr", amount }];
  const { stores } = ok(await shop.admin("GET", "/stores"));
  await create(`/stores/${stores[0].id}`, {
    supported_currencies: [{ currency_code: "inr", is_default: true }],
  });
  const { region } = await create("/regions", {
    name: "India",
    currency_code: "inr",
    countries: ["in"],
    payment_providers: ["pp_system_default"],
  });
  const { sales_channel: channel } = await create("/sales-channels", { name: "Website" });
  const { api_key: key } = await create("/api-keys", { title: "Website", type: "publishable" });
  await create(`/api-keys/${key.id}/sales-channels`, { add: [channel.id] });

  const { stock_location: location } = await create("/stock-locations", { name: "Shop" });
  await create(`/stock-locations/${location.id}/sales-channels`, { add: [channel.id] });
  await create(`/stock-locations/${location.id}/fulfillment-providers`, { add: ["waybill_waybill"] });
  const { stock_location: withSet } = await create(
    `/stock-locations/${location.id}/fulfillment-sets?fields=*fulfillment_sets`,
    { name: "Home", type: "shipping" },
  );
  const { fulfillment_set: set } = await create(
    `/fulfillment-sets/${withSet.fulfillment_sets[0].id}/service-zones`,
    { name: "India", geo_zones: [{ type: "country", country_code: "in" }] },
  );
  const { shipping_profile: profile } = await create("/shipping-profiles", {
    name: "Parcels",
    type: "parcel",
  });
  const option = async (name: string, id: string, amount: number) => {
    const { shipping_option: created } = await create("/shipping-options", {
      name,
      service_zone_id: set.service_zones[0].id,
      shipping_profile_id: profile.id,
      provider_id: "waybill_waybill",
      price_type: "flat",
      type: { label: name, description: name, code: name },
      data: { id },
      prices: inr(amount),
      rules: [],
    });
    return created.id;
  };
  const { product } = await create("/products", {
    title: "Arabica",
    status: "published",
    shipping_profile_id: profile.id,
    sales_channels: [{ id: channel.id }],
    options: [{ title: "Size", values: ["250 g"] }],
    variants: [
      {
        title: "250 g",
        options: { Size: "250 g" },
        manage_inventory: false,
        weight: 250,
        prices: inr(499.5),
      },
    ],
  });
  return {
    regionId: region.id,
    locationId: location.id,
    channelId: channel.id,
    variantId: product.variants[0].id,
    publishableKey: key.token,
    shippingOptions: {
      delivery: await option("delivery", "delivery", 49),
      cod: await option("cod", "cod", 49),
      expensive: await option("expensive", "delivery", 90_000_000),
    },
  };
}

/** Buys some pieces as a customer does. Returns the order's id and that of its line. */
export async function buy(
  shop: Shop,
  catalogue: Catalogue,
  quantity: number,
  option: keyof Catalogue["shippingOptions"] = "delivery",
  address: object = {},
): Promise<{ orderId: string; lineId: string }> {
  const store = async (path: string, body: object): Promise<Answer["body"]> =>
    ok(await shop.call("POST", `/store${path}`, body, { "x-publishable-api-key": catalogue.publishableKey }));
  const { cart } = await store("/carts", {
    region_id: catalogue.regionId,
    sales_channel_id: catalogue.channelId,
    email: "asha@example.com",
    shipping_address: { ...ADDRESS, ...address },
    items: [{ variant_id: catalogue.variantId, quantity }],
  });
  await store(`/carts/${cart.id}/shipping-methods`, { option_id: catalogue.shippingOptions[option] });
  const { payment_collection: payment } = await store("/payment-collections", { cart_id: cart.id });
  await store(`/payment-collections/${payment.id}/payment-sessions`, { provider_id: "pp_system_default" });
  const { order } = await store(`/carts/${cart.id}/complete`, {});
  return { orderId: order.id, lineId: order.items[0].id };
}

/** The provider, for `providers` of Medusa's fulfilment module. */
import { ModuleProvider, Modules } from "@medusajs/framework/utils";
import { WaybillFulfillment } from "./service.js";

export type { ProviderOptions } from "./options.js";
export default ModuleProvider(Modules.FULFILLMENT, { services: [WaybillFulfillment] });

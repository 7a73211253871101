/** What this package uses of Medusa, so that it compiles without it. `make test-medusa` compiles it with Medusa's own types. */

export declare class AbstractFulfillmentProviderService {
  static identifier: string;
  getFulfillmentOptions(): Promise<{ id: string; [key: string]: unknown }[]>;
  validateFulfillmentData(
    optionData: Record<string, unknown>,
    data: Record<string, unknown>,
    context: unknown,
  ): Promise<unknown>;
  validateOption(data: Record<string, unknown>): Promise<boolean>;
  canCalculate(data: unknown): Promise<boolean>;
  createFulfillment(
    data: Record<string, unknown>,
    items: unknown[],
    order: unknown,
    fulfillment: unknown,
  ): Promise<FulfillmentResult>;
  cancelFulfillment(data: Record<string, unknown>): Promise<unknown>;
  createReturnFulfillment(fulfillment: Record<string, unknown>): Promise<FulfillmentResult>;
}

interface FulfillmentResult {
  data: Record<string, unknown>;
  labels: { tracking_number: string; tracking_url: string; label_url: string }[];
}

export declare class MedusaError extends Error {
  static Types: { INVALID_DATA: string; NOT_ALLOWED: string; UNEXPECTED_STATE: string };
  constructor(type: string, message: string);
}

export declare const Modules: { FULFILLMENT: "fulfillment" };
export declare const ContainerRegistrationKeys: {
  LOGGER: "logger";
  PG_CONNECTION: "__pg_connection__";
  QUERY: "query";
};
export declare function ModuleProvider(module: string, definition: { services: unknown[] }): unknown;

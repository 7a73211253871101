import type { ClientPackages } from "../../../api/packages";
import type { Shell } from "./shell";

/** The values that a sample needs. */
export interface SnippetInput {
  shell: Shell;
  /** The addresses of the packages. */
  packages: ClientPackages;
  /** The integrators' base, ending in `/v1`. */
  apiBaseUrl: string;
  /** A whole Test key, or a placeholder. Never a Live key. */
  apiKey: string;
  /** The order reference, also used as the Idempotency-Key. */
  reference: string;
}

/** A prepaid order that needs no pickup profile. */
export function sampleOrder(reference: string) {
  return {
    orderReference: reference,
    customer: { name: "Asha Rao", phone: "+919800000001" },
    delivery: {
      addressLine1: "12th Main Road, Indiranagar",
      city: "Bengaluru",
      state: "Karnataka",
      pincode: "560038",
    },
    pickup: {
      businessName: "My Shop",
      contactName: "Joseph Mathew",
      phone: "+919800000002",
      addressLine1: "27, Church Street",
      city: "Bengaluru",
      state: "Karnataka",
      pincode: "560001",
    },
    payment: {
      paymentType: "prepaid",
      orderValuePaise: 124900,
      deliveryFeePaise: 4900,
      codAmountPaise: 0,
      prepaidAmountPaise: 129800,
      currency: "INR",
    },
  };
}

export function orderJson(reference: string): string {
  return JSON.stringify(sampleOrder(reference), null, 2);
}

/** Indents all lines but the first. */
export function indent(text: string, by: string): string {
  return text.replaceAll("\n", `\n${by}`);
}

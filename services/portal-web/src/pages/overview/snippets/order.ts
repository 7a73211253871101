/** What a snippet needs to be complete. */
export interface SnippetInput {
  /** The integrators' base, ending in `/v1`. */
  apiBaseUrl: string;
  /** The whole key, or a text that says where it goes. */
  apiKey: string;
  /** The order's reference, which is its Idempotency-Key as well. */
  reference: string;
}

/** An order that is complete without a pickup profile, and prepaid, so that its amounts are easily followed. */
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

/** Every line but the first moved in, to stand within code. */
export function indent(text: string, by: string): string {
  return text.replaceAll("\n", `\n${by}`);
}

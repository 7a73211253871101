import type { Checkout } from "../../api/wallet";

const SCRIPT = "https://checkout.razorpay.com/v1/checkout.js";

interface RazorpayWindow extends Window {
  Razorpay?: new (options: object) => { open: () => void };
}

/**
 * Opens the provider's own page above ours. Its script comes from the provider, which the server's security policy
 * allows only where the operator has named it: rejects where it was not let in.
 */
export async function openRazorpay(checkout: Checkout, brandName: string): Promise<void> {
  const page: RazorpayWindow = window;
  if (!page.Razorpay) await loadScript();
  if (!page.Razorpay) throw new Error("the payment page's script is not there");
  const { keyId, orderId, amountPaise, currency } = checkout;
  new page.Razorpay({ key: keyId, order_id: orderId, amount: amountPaise, currency, name: brandName }).open();
}

function loadScript(): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = SCRIPT;
    script.onload = () => resolve();
    script.onerror = () => {
      script.remove();
      reject(new Error("the payment page's script was not let in"));
    };
    document.head.append(script);
  });
}

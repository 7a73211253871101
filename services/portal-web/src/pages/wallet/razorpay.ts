import type { Checkout } from "../../api/wallet";

const SCRIPT = "https://checkout.razorpay.com/v1/checkout.js";

interface RazorpayWindow extends Window {
  Razorpay?: new (options: object) => { open: () => void };
}

/**
 * Opens the provider's payment page as an overlay. Rejects if its script is blocked: the server's content security policy
 * allows the script only if the operator has configured the provider.
 */
export async function openRazorpay(checkout: Checkout, brandName: string): Promise<void> {
  const page: RazorpayWindow = window;
  if (!page.Razorpay) await loadScript();
  if (!page.Razorpay) throw new Error("the payment page's script does not define Razorpay");
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
      reject(new Error("the payment page's script could not be loaded"));
    };
    document.head.append(script);
  });
}

export interface GoLiveHelp {
  /** What the item means, or who completes it. */
  hint: string;
  link: { to: string; label: string } | null;
}

const QUICK_START = { to: "/quick-start", label: "Open the quick start" };

/** How to complete each go-live item, by the server's code. */
const HELP: Record<string, GoLiveHelp> = {
  successful_test_order: { hint: "Run the quick start with your Test key.", link: QUICK_START },
  business_active: { hint: "Your delivery company approves your business.", link: null },
  subscription_active: {
    hint: "Choose a plan; your delivery company activates it.",
    link: { to: "/subscription", label: "Choose a plan" },
  },
  live_access_active: { hint: "Your delivery company grants access after approval.", link: null },
  wallet_funded: {
    hint: "Delivery fees of live orders are paid from the wallet.",
    link: { to: "/wallet", label: "Top up" },
  },
  pickup_profile_complete: {
    hint: "Where drivers pick up your parcels.",
    link: { to: "/pickup-profile", label: "Complete the profile" },
  },
  duplicate_retry_tested: {
    hint: "Send the same request twice. The second response returns the first order.",
    link: QUICK_START,
  },
  failure_retry_tested: {
    hint: "Make a request fail, then retry it with the same Idempotency-Key until it succeeds.",
    link: QUICK_START,
  },
  webhook_verified: {
    hint: "Send a test event. Your receiver must accept the signed event and reject the forged one.",
    link: { to: "/webhooks", label: "Test a webhook" },
  },
};

const SUSPENDED = "Suspended. Contact your delivery company to lift the suspension.";

/** Without a link if the user has no page for the item, or if the delivery company completes it. */
export function goLiveHelp(
  code: string,
  hasPage: (path: string) => boolean,
  isSuspended = false,
): GoLiveHelp {
  if (code === "business_active" && isSuspended) return { hint: SUSPENDED, link: null };
  const help = HELP[code];
  if (!help) return { hint: "", link: null };
  return { hint: help.hint, link: help.link && hasPage(help.link.to) ? help.link : null };
}

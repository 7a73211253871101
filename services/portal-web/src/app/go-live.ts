import { hasPage } from "./navigation";

export interface Way {
  /** What the item is about, or who does it. */
  hint: string;
  link: { to: string; label: string } | null;
}

const QUICK_START = { to: "/#quick-start", label: "Place one now" };

/** How each item of the go-live list gets done. Codes are the server's. */
const WAYS: Record<string, Way> = {
  successful_test_order: { hint: "Run the quick start with your Test key.", link: QUICK_START },
  business_active: { hint: "Your delivery company approves your business.", link: null },
  subscription_active: {
    hint: "Choose a plan; your delivery company activates it.",
    link: { to: "/subscription", label: "Choose a plan" },
  },
  live_access_active: { hint: "Your delivery company grants it after approval.", link: null },
  wallet_funded: {
    hint: "Delivery fees of live orders are paid from it.",
    link: { to: "/wallet", label: "Top up" },
  },
  pickup_profile_complete: {
    hint: "Where drivers fetch your parcels.",
    link: { to: "/pickup-profile", label: "Fill it in" },
  },
  duplicate_retry_tested: {
    hint: "Send the same request twice: the second answer is the first order again.",
    link: QUICK_START,
  },
  failure_retry_tested: {
    hint: "Let a request fail, then repeat it with the same Idempotency-Key until it succeeds.",
    link: QUICK_START,
  },
  webhook_verified: {
    hint: "Send a test event: your receiver takes the signed one and refuses the forged one.",
    link: { to: "/webhooks", label: "Test it" },
  },
};

/** Without a link where there is no page for it, or it is somebody else's to do. */
export function wayTo(code: string): Way {
  const way = WAYS[code];
  if (!way) return { hint: "", link: null };
  const page = way.link?.to.split("#")[0];
  return { hint: way.hint, link: page && hasPage(page) ? way.link : null };
}

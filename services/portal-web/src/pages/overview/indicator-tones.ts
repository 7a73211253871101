import type { IndicatorName } from "../../api/types";
import type { Tone } from "../../components/status-badge";

/** The seven indicators in order. Their values are the server's labels, unchanged. */
export const INDICATORS: { name: IndicatorName; title: string; page: string }[] = [
  { name: "testApi", title: "Test API Status", page: "/api-keys" },
  { name: "liveApi", title: "Live API Status", page: "/api-keys" },
  { name: "connectionTest", title: "Connection Test", page: "/orders" },
  { name: "webhook", title: "Webhook Status", page: "/webhooks" },
  { name: "webhookConnectionTest", title: "Webhook Connection Test", page: "/webhooks" },
  { name: "wallet", title: "Wallet Status", page: "/wallet" },
  { name: "subscription", title: "Subscription Status", page: "/subscription" },
];

const TONES: Record<string, Tone> = {
  active: "good",
  connected: "good",
  passed: "good",
  funded: "good",
  ready: "info",
  requested: "info",
  paused: "warn",
  low_balance: "warn",
  failing: "warn",
  failed: "bad",
  disabled: "bad",
  empty: "bad",
  money_owed: "bad",
  expired: "bad",
};

/** An unknown code gets a neutral tone. */
export function toneOf(code: string): Tone {
  return TONES[code] ?? "idle";
}

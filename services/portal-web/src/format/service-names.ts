// The names of queries and services for users.

const PARTS: Record<string, string> = {
  "api-keys": "API keys",
  "audit-log": "audit log",
  cash: "cash on delivery",
  home: "overview",
  email: "e-mail address",
  invitations: "invitations",
  orders: "orders",
  "pickup-profile": "pickup profile",
  sessions: "sessions",
  session: "account",
  status: "status",
  subscription: "subscription",
  users: "team",
  wallet: "wallet",
  webhooks: "webhooks",
  businesses: "businesses",
  business: "business",
  timeline: "timeline",
  discrepancies: "cash on delivery",
};

/** The name of a query for users. Query keys of the operator console have it in second place. */
export function queryName(queryKey: readonly unknown[]): string {
  const [first, second] = queryKey.map(String);
  return PARTS[(first === "operator" ? second : first) ?? ""] ?? "rest of the page";
}

const SERVICES: Record<string, string> = {
  wallet: "wallet",
  "webhook-dispatcher": "webhooks",
  "key-management": "API keys",
  "order-api": "orders",
};

export function serviceName(service: string): string {
  return SERVICES[service] ?? service;
}

/** `a, b and c`, without duplicates. */
export function joinList(words: string[]): string {
  const each = [...new Set(words)];
  const last = each.pop() ?? "";
  return each.length === 0 ? last : `${each.join(", ")} and ${last}`;
}

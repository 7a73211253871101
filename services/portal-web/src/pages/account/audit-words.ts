// What the audit log's entries say, in words. Amounts are rupees, states are named, and ids that lead nowhere are left out.
import type { AuditEntry } from "../../api/types";
import { ROLE_LABELS } from "../../app/session";
import { formatPaise } from "../../format/money";
import { sentence } from "../../format/order-words";
import { planName } from "../subscription/plan-name";
import { actionLabel } from "./audit-actions";

type Details = Record<string, unknown>;

/** What was done: “Business suspended”. */
export function entryTitle({ action, details }: AuditEntry): string {
  const changes = action === "business.changed" ? businessChanges(details as Details) : [];
  if (changes.length === 0) return actionLabel(action);
  const [first = "", ...rest] = changes;
  return [first, ...rest.map((one) => one.charAt(0).toLowerCase() + one.slice(1))].join(", ");
}

const BUSINESS_CHANGES: Record<string, Record<string, string>> = {
  status: { active: "Business approved", inactive: "Approval withdrawn", suspended: "Business suspended" },
  subscription: { active: "Subscription activated", inactive: "Subscription ended" },
  liveAccess: { active: "Live access granted", inactive: "Live access withdrawn" },
};

function businessChanges(details: Details): string[] {
  return Object.entries(details).flatMap(([name, value]) => BUSINESS_CHANGES[name]?.[String(value)] ?? []);
}

/** What else there is to say, line by line. */
export function entryLines({ action, details }: AuditEntry): string[] {
  const given = { ...(details as Details) };
  const said: string[] = [];
  if (action === "business.changed") dropTold(given);
  if (given.from && given.to) {
    said.push(`From ${roleName(given.from)} to ${roleName(given.to)}`);
    given.from = given.to = null;
  }
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || UNTOLD.includes(name)) continue;
    said.push(LINES[name]?.(value) ?? plain(name, value));
  }
  return said;
}

/** Takes away what the title says already. */
function dropTold(details: Details) {
  for (const [name, words] of Object.entries(BUSINESS_CHANGES)) {
    if (words[String(details[name])]) delete details[name];
  }
}

/** Ids of what the entry is about anyway, or of what nobody can look up. */
const UNTOLD = ["endpointId", "invitationId"];

const LINES: Record<string, (value: unknown) => string> = {
  amountPaise: (value) => formatPaise(Number(value)),
  thresholdPaise: (value) =>
    Number(value) === 0 ? "The warning is off" : `Warns below ${formatPaise(Number(value))}`,
  status: (value) => PAYMENTS[String(value)] ?? plain("status", value),
  replaces: () => "Replaces the former key of this name",
  mode: (value) => (value === "live" ? "Live mode" : "Test mode"),
  name: (value) => `Name: ${value}`,
  role: (value) => roleName(value),
  sessions: (value) => (Number(value) === 1 ? "1 log-in ended" : `${value} log-ins ended`),
  plan: (value) => planName(String(value)),
  fields: (value) => (Array.isArray(value) ? fieldNames(value) : plain("fields", value)),
  succeeded: (value) => (value ? "The endpoint received it" : "The endpoint did not receive it"),
};

const PAYMENTS: Record<string, string> = {
  succeeded: "Paid",
  pending: "Not paid yet",
  failed: "Not paid",
};

const FIELDS: Record<string, string> = {
  url: "URL",
  events: "events",
  modes: "modes",
  status: "status",
  maxPerSecond: "most webhooks per second",
};

function fieldNames(fields: unknown[]): string {
  return `Changed: ${fields.map((field) => FIELDS[String(field)] ?? words(String(field))).join(", ")}`;
}

function roleName(role: unknown): string {
  return ROLE_LABELS[role as keyof typeof ROLE_LABELS] ?? sentence(String(role));
}

/** What has no words of its own yet: `newThing: a_value` as `New thing: a value`. */
function plain(name: string, value: unknown): string {
  if (name.endsWith("Paise") && typeof value === "number") {
    return `${sentence(words(name.slice(0, -"Paise".length)))}: ${formatPaise(value)}`;
  }
  const told = typeof value === "object" ? JSON.stringify(value) : String(value).replaceAll("_", " ");
  return `${sentence(words(name))}: ${told}`;
}

/** `newRole` as `new role`. */
function words(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
}

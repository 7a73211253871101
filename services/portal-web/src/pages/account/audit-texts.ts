// Texts of audit log entries: amounts in rupees, states by their labels, no ids that users cannot look up.
import type { AuditEntry } from "../../api/types";
import { ROLE_LABELS } from "../../app/session";
import { orderCount } from "../../format/cash-labels";
import { formatDay } from "../../format/day";
import { failureReason } from "../../format/failure-labels";
import { formatPaise } from "../../format/money";
import { sentence } from "../../format/order-labels";
import { planName } from "../subscription/plan-name";
import { actionLabel } from "./audit-actions";

/** Of a business’s log, or of the operator’s. */
type Entry = Pick<AuditEntry, "action" | "details">;
type Details = Record<string, unknown>;

/** The title of an entry: “Business suspended”. */
export function entryTitle({ action, details }: Entry): string {
  if (action === "cash_difference.assigned" && (details as Details).closed) return "Cash discrepancy closed";
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
  return Object.entries(details).flatMap(([name, value]) => {
    if (name === "status" && details.lifted && value === "active") return "Suspension lifted";
    return BUSINESS_CHANGES[name]?.[String(value)] ?? [];
  });
}

/** The details of an entry, line by line. */
export function entryLines({ action, details }: Entry): string[] {
  const given = { ...(details as Details) };
  const lines: string[] = [];
  if (action === "business.changed") dropTitleDetails(given);
  if (action === "cash_difference.assigned") given.closed = null;
  if (action === "approval.limit_changed") {
    lines.push(`From ${limitName(given.fromPaise)} to ${limitName(given.toPaise)}`);
    given.fromPaise = given.toPaise = null;
  }
  if (given.kind === "raise_limit" && "toPaise" in given) {
    lines.push(requestedLimit(given.toPaise));
    given.kind = given.toPaise = null;
  }
  if (given.from && given.to) {
    const name = action === "user.role_changed" ? roleName : String;
    lines.push(`From ${name(given.from)} to ${name(given.to)}`);
    given.from = given.to = null;
  }
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || HIDDEN_IDS.includes(name)) continue;
    lines.push(LINES[name]?.(value) ?? plain(name, value));
  }
  return lines;
}

function limitName(paise: unknown): string {
  return typeof paise === "number" ? formatPaise(paise) : "no limit";
}

/** `null` asks for the removal. */
function requestedLimit(paise: unknown): string {
  return typeof paise === "number" ? `Higher limit: ${formatPaise(paise)}` : "Removal of the limit";
}

/** Removes details that the title contains. */
function dropTitleDetails(details: Details) {
  for (const [name, words] of Object.entries(BUSINESS_CHANGES)) {
    if (words[String(details[name])]) delete details[name];
  }
  delete details.lifted;
}

/** Ids that repeat the entry's target, or that users cannot look up. */
const HIDDEN_IDS = ["endpointId", "invitationId"];

const LINES: Record<string, (value: unknown) => string> = {
  switched: () => "By a switch from another business of the same person",
  amountPaise: (value) => formatPaise(Number(value)),
  reference: (value) => `Reference: ${value}`,
  bankReference: (value) => `Bank reference: ${value}`,
  totalPaise: (value) => formatPaise(Number(value)),
  orders: (value) => orderCount(Number(value)),
  paidOn: (value) => `Paid on ${value}`,
  owner: (value) => `Owner: ${value}`,
  resolution: (value) => `Because: ${value}`,
  debitReason: (value) => `Reason: ${value}`,
  reverses: (value) => `Takes back ${value}`,
  reason: (value) => REASONS[String(value)] ?? `Reason: ${value}`,
  kind: (value) => APPROVAL_KINDS[String(value)] ?? plain("kind", value),
  userId: (value) => `User: ${value}`,
  thresholdPaise: (value) =>
    Number(value) === 0 ? "Warning off" : `Warns below ${formatPaise(Number(value))}`,
  status: (value) => PAYMENTS[String(value)] ?? plain("status", value),
  replaces: () => "Replaces the previous key with this name",
  revokedWith: () => "Revoked with the key that replaced it",
  toPaise: (value) => `Limit: ${formatPaise(Number(value))}`,
  from: (value) => `From ${value}`,
  to: (value) => `To ${value}`,
  verified: (value) => (value ? "Confirmed" : "Not confirmed"),
  emailVerified: (value) => (value ? "E-mail address confirmed" : "E-mail address not confirmed"),
  mode: (value) => (value === "live" ? "Live mode" : "Test mode"),
  name: (value) => `Name: ${value}`,
  role: (value) => roleName(value),
  singleSignOn: (value) => SSO_RESULTS[String(value)] ?? `With single sign-on of ${value}`,
  issuer: (value) => `Issuer: ${value}`,
  roles: (value) => (Array.isArray(value) && value.length > 0 ? `Roles: ${value.join(", ")}` : "No groups"),
  defaultRole: (value) => `Everybody else: ${roleName(value)}`,
  allowedDomains: (value) =>
    Array.isArray(value) && value.length > 0 ? `Allowed domains: ${value.join(", ")}` : "No allowed domains",
  required: (value) => (value ? "Required of everybody but owners" : "Passwords accepted as well"),
  newSecret: (value) => (value ? "With a new client secret" : "With the same client secret"),
  secondFactor: (value) => FACTOR_USES[String(value)] ?? plain("secondFactor", value),
  sessions: (value) => (Number(value) === 1 ? "1 session ended" : `${value} sessions ended`),
  format: (value) => FORMATS[String(value)] ?? plain("format", value),
  filters: (value) => filterNames(value),
  plan: (value) => planName(String(value)),
  date: (value) => `For ${formatDay(String(value))}`,
  reasonCode: (value) => `Failed before: ${failureReason(String(value))}`,
  fields: (value) => (Array.isArray(value) ? fieldNames(value) : plain("fields", value)),
  succeeded: (value) => (value ? "Test event received" : "Test event not received"),
};

/** Of exports. Those of logs are CSV or JSON Lines. */
const FORMATS: Record<string, string> = { csv: "As CSV", xlsx: "As an Excel file", jsonl: "As JSON Lines" };

const APPROVAL_KINDS: Record<string, string> = {
  credit: "Credit",
  debit: "Debit",
  raise_limit: "Higher limit",
  lift_suspension: "Lift suspension",
  issue_reset_link: "Create reset link",
};

const REASONS: Record<string, string> = {
  related_account: "The accounts are related",
  own_request: "It is their own request",
  suspension_ended: "The suspension had ended",
  wrong_password: "Wrong password",
  wrong_code: "Wrong code of two-factor authentication",
  wrong_passkey: "Passkey not accepted",
};

const FACTOR_USES: Record<string, string> = {
  app: "With a code from the app",
  recovery_code: "With a recovery code",
  passkey: "With a passkey",
  wrong_code: "Wrong code of two-factor authentication",
  wrong_passkey: "Passkey not accepted",
};

const SSO_RESULTS: Record<string, string> = {
  no_role: "Single sign-on: no group with a role",
  open_to_anyone: "Single sign-on: it would let in everybody whom the provider knows",
  no_email: "Single sign-on: no e-mail address",
  last_owner: "Single sign-on: would demote the last owner",
  too_many_users: "Single sign-on: too many users",
  other_person: "Single sign-on: another person",
  not_recent: "Single sign-on: not authenticated again",
  response_rejected: "Single sign-on: response not valid",
};

const PAYMENTS: Record<string, string> = {
  succeeded: "Paid",
  pending: "Payment pending",
  failed: "Payment failed",
};

const FIELDS: Record<string, string> = {
  email: "e-mail address",
  gstin: "GSTIN",
  url: "URL",
  events: "events",
  modes: "modes",
  status: "status",
  maxPerSecond: "maximum webhooks per second",
  delivery: "address",
};

function fieldNames(fields: unknown[]): string {
  return `Changed: ${fields.map((field) => FIELDS[String(field)] ?? words(String(field))).join(", ")}`;
}

/** The filters of an export, without their values. */
function filterNames(filters: unknown): string {
  const names = Array.isArray(filters) ? filters.map((name) => words(String(name))) : [];
  return names.length === 0 ? "All entries" : `Filtered by ${names.join(", ")}`;
}

function roleName(role: unknown): string {
  return ROLE_LABELS[role as keyof typeof ROLE_LABELS] ?? sentence(String(role));
}

/** Fallback for unknown details: `newThing: a_value` as `New thing: a value`. */
function plain(name: string, value: unknown): string {
  if (name.endsWith("Paise") && typeof value === "number") {
    return `${sentence(words(name.slice(0, -"Paise".length)))}: ${formatPaise(value)}`;
  }
  const told = Array.isArray(value)
    ? listed(value)
    : typeof value === "object"
      ? JSON.stringify(value)
      : String(value).replaceAll("_", " ");
  return `${sentence(words(name))}: ${told}`;
}

/** Of a list that was read. Exports have all ids. */
const LISTED_MAX = 5;

function listed(values: unknown[]): string {
  const more = values.length - LISTED_MAX;
  const shown = values.slice(0, LISTED_MAX).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown || "none";
}

/** `newRole` as `new role`. */
function words(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
}

/** What a call can fail with. `code` is for programs and stays the same; `message` is for people. */
import { redactAll, safeText } from "./redact.js";
import type { ErrorBody, ExistingOrder, FieldError, Warning } from "./types.js";

/** The base of every error of this package, except wrong arguments (`TypeError`). */
export class WaybillError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(safeText(message));
    this.name = new.target.name;
  }
}

/** No usable answer: the outcome is unknown. Repeat the call with the same key and body. */
export class NoAnswerError extends WaybillError {
  constructor(
    override readonly code: "timeout" | "unreachable" | "unusable_answer",
    message: string,
    /** What the system calls it, such as `ECONNREFUSED` or `CERT_HAS_EXPIRED`. */
    readonly kind?: string | undefined,
  ) {
    super(code, message);
  }
}

/** An answer that is no success. */
export class ApiError extends WaybillError {
  /** Names the request in the service's logs; include it when you ask for help. */
  readonly requestId: string | undefined;
  /** Every error of the request at once (400). */
  readonly errors: readonly FieldError[];
  readonly warnings: readonly Warning[];
  /** The open items of the go-live list (403 `live_api_locked`). */
  readonly missing: readonly string[];
  /** The events that are possible next (409 `illegal_transition`). */
  readonly legal: readonly string[];
  /** 402: the missing amount, the balance and the fee. */
  readonly shortfallPaise: number | undefined;
  readonly balancePaise: number | undefined;
  readonly requiredPaise: number | undefined;
  /** The delivery that has the reference (409 `order_reference_exists`) or the key (422 `idempotency_key_reused`). */
  readonly order: ExistingOrder | undefined;
  /** The whole parsed answer without keys and secrets, such as `status` of the order, `differences` or `requiredScope`. */
  readonly body: Readonly<Partial<ErrorBody>>;

  constructor(
    /** The status of the answer. That of the order is in `body.status`. */
    readonly status: number,
    body: Partial<ErrorBody>,
    requestId: string | undefined,
    readonly retryAfterMs: number | undefined,
  ) {
    super(textOf(body.code) ?? `http_${status}`, textOf(body.message) ?? `The service answered ${status}.`);
    this.requestId = textOf(body.requestId) ?? requestId;
    // A gateway in between may answer with errors of another form.
    this.errors = listOf(body.errors).filter(
      // An error about the whole body has an empty field.
      (error) => typeof error?.field === "string" && textOf(error.message),
    );
    this.warnings = listOf(body.warnings);
    this.missing = listOf(body.missing);
    this.legal = listOf(body.legal);
    this.shortfallPaise = wholeOf(body.shortfallPaise);
    this.balancePaise = wholeOf(body.balancePaise);
    this.requiredPaise = wholeOf(body.requiredPaise);
    this.order = hasAll(body.order, DELIVERY_FIELDS) ? body.order : undefined;
    this.body = redactAll(body);
  }
}

/** 400, 413, 415, 422 and the like: correct the request. */
export class InvalidRequestError extends ApiError {}
/** 401: check the key. */
export class AuthenticationError extends ApiError {}
/** 402: top up `shortfallPaise`, then repeat. */
export class InsufficientBalanceError extends ApiError {}
/** 403: complete the items in `missing`, or use a key of the other mode. */
export class PermissionError extends ApiError {}
export class NotFoundError extends ApiError {}
export class ConflictError extends ApiError {}
export class RateLimitError extends ApiError {}
/** 408 and 5xx: the outcome is unknown. Repeat the call with the same key and body. */
export class ServerError extends ApiError {}

/** 409 `order_reference_exists`: the delivery exists; save the details in `order`. */
export class OrderExistsError extends ConflictError {
  constructor(
    status: number,
    body: Partial<ErrorBody>,
    requestId: string | undefined,
    override readonly order: ExistingOrder,
  ) {
    super(status, body, requestId, undefined);
  }
}

const BY_STATUS: Record<number, typeof ApiError> = {
  401: AuthenticationError,
  402: InsufficientBalanceError,
  403: PermissionError,
  404: NotFoundError,
  408: ServerError,
  409: ConflictError,
  429: RateLimitError,
};

export function errorOf(
  status: number,
  body: Partial<ErrorBody>,
  requestId?: string,
  retryAfterMs?: number,
): ApiError {
  if (status === 409 && body.code === "order_reference_exists" && hasAll(body.order, DELIVERY_FIELDS)) {
    return new OrderExistsError(status, body, requestId, body.order);
  }
  const fallback = status >= 500 ? ServerError : status >= 400 ? InvalidRequestError : ApiError;
  return new (BY_STATUS[status] ?? fallback)(status, body, requestId, retryAfterMs);
}

/** Why a webhook was refused. Answer 401 in every case; the reason is for your own log. */
export type RefusalReason =
  | "missing_headers"
  | "malformed_timestamp"
  | "too_old"
  | "too_new"
  | "mismatch"
  | "not_an_event";

const REASONS: Record<RefusalReason, string> = {
  missing_headers: "A signature header is missing; check the header prefix, and proxies that remove headers.",
  malformed_timestamp: "The timestamp is not a number of Unix seconds.",
  too_old: "The webhook was signed too long ago; check the clock of this machine.",
  too_new: "The webhook was signed in the future; check the clock of this machine.",
  mismatch: "The signature does not match; check the secret, and pass the raw bytes of the body.",
  not_an_event: "The signed body is not an event.",
};

export class WebhookError extends WaybillError {
  constructor(readonly reason: RefusalReason) {
    super(reason, REASONS[reason]);
  }
}

/** What a sync record needs of an order. */
export const DELIVERY_FIELDS = ["id", "trackingCode", "trackingUrl", "status"] as const;

/** Whether an answer has these fields. An answer of a proxy or captive portal has not. */
export function hasAll<Value extends object>(
  value: Value | undefined | null,
  fields: readonly string[],
): value is Value {
  return typeof value === "object" && value !== null && fields.every((name) => Object.hasOwn(value, name));
}

// Another program than the service may have answered, with fields of any type.
function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function wholeOf(value: unknown): number | undefined {
  return Number.isInteger(value) ? (value as number) : undefined;
}

function listOf<Entry>(value: Entry[] | undefined): Entry[] {
  return Array.isArray(value) ? value : [];
}

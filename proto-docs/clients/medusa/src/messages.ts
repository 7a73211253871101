/** What the merchant reads in Medusa when a delivery cannot be created or cancelled. */
import { MedusaError } from "@medusajs/framework/utils";
import {
  AuthenticationError,
  InsufficientBalanceError,
  InvalidRequestError,
  NoAnswerError,
  PermissionError,
  RateLimitError,
  ServerError,
  type SyncError,
  WaybillError,
} from "@waybill/client";
import { AttemptRefusedError } from "./deliveries.js";
import { UnusableOrderError } from "./order-body.js";

const AGAIN = "Then fulfil the items again.";

const REASONS: Record<AttemptRefusedError["reason"], string> = {
  busy: "A delivery of this order is being created. Fulfil the items again in a minute.",
  other_contents:
    "An earlier attempt with other items may have created a delivery. Fulfil those items first; you can cancel them afterwards.",
  ended: `The delivery of an earlier attempt has ended, for example by a cancellation in the portal. ${AGAIN}`,
};

/** Medusa shows the message with status 400. */
export function refused(message: string): MedusaError {
  return new MedusaError(MedusaError.Types.NOT_ALLOWED, message);
}

/** The order was changed after an attempt, or another fulfilment was lost with its database. */
export function otherDelivery(trackingCode: string): MedusaError {
  return refused(
    `The delivery ${trackingCode} of an earlier attempt has other data, for example another address. Fulfil the items with that data first; you can cancel them afterwards. Or cancel that delivery in the portal. ${AGAIN}`,
  );
}

/** As above, but too late to fulfil the former data: only the merchant knows whether the parcel had these items. */
export function otherDelivered(trackingCode: string): MedusaError {
  return refused(
    `The delivery ${trackingCode} of an earlier attempt was delivered with other data, for example to another address. If it carried these items, do not send them again: fulfil them with the manual provider. Otherwise fulfil them again: they get a new delivery.`,
  );
}

/** Medusa shows the message with status 500, and logs it. */
function unknownOutcome(message: string): MedusaError {
  return new MedusaError(MedusaError.Types.UNEXPECTED_STATE, message);
}

/** Why `sync.ensure` failed. */
export function creationFailed(error: SyncError, cause: WaybillError | undefined): MedusaError {
  if (cause instanceof InsufficientBalanceError) {
    const missing = cause.shortfallPaise;
    const amount = missing === undefined ? "" : ` by ₹${(missing / 100).toFixed(2)}`;
    return refused(`The delivery wallet's balance is too low${amount}. Top up the wallet. ${AGAIN}`);
  }
  if (cause instanceof PermissionError && cause.missing.length > 0) {
    const items = cause.missing.map((item) => item.replaceAll("_", " ")).join(", ");
    return refused(`Live deliveries are locked. Still missing: ${items}. ${AGAIN}`);
  }
  if (cause instanceof InvalidRequestError && cause.errors.length > 0) {
    const fields = cause.errors.map(({ field, message }) => `${field}: ${message}`).join(" ");
    return refused(`The delivery service refused the order. ${fields} Correct it. ${AGAIN}`);
  }
  if (cause instanceof AuthenticationError) return refused(badKey(cause));
  if (cause instanceof RateLimitError) {
    return refused("The delivery service has too many requests. Fulfil the items again in a minute.");
  }
  if (cause instanceof NoAnswerError || cause instanceof ServerError) {
    return unknownOutcome(
      `The delivery service did not answer as expected (${error.code}). Fulfil the same items again: they get one delivery.`,
    );
  }
  return refused(`The delivery service refused the order: ${error.message}`);
}

export function readingFailed(cause: unknown): unknown {
  return cause instanceof WaybillError
    ? unknownOutcome(`The delivery's status could not be read (${cause.code}). Try again.`)
    : cause;
}

export function cancellationFailed(cause: unknown): unknown {
  if (cause instanceof AuthenticationError) return refused(badKey(cause));
  if (cause instanceof NoAnswerError || cause instanceof ServerError || cause instanceof RateLimitError) {
    return unknownOutcome(`The delivery service did not answer as expected (${cause.code}). Cancel again.`);
  }
  return cause instanceof WaybillError
    ? refused(`The delivery cannot be cancelled: ${cause.message}`)
    : cause;
}

/** Errors before the call. Others are returned as they are. */
export function attemptFailed(error: unknown): unknown {
  if (error instanceof UnusableOrderError) {
    return refused(`The order cannot be delivered yet. ${error.message} ${AGAIN}`);
  }
  if (!(error instanceof AttemptRefusedError)) return error;
  return refused(REASONS[error.reason]);
}

function badKey(error: WaybillError): string {
  return `The delivery service refused the API key (${error.code}): check apiKey in medusa-config.`;
}
